internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import ServiceDefaults
public import ServiceLifecycle
internal import Storage
internal import WireFormat

/// Makes the deliveries of notifications for topics: a page of members and one transaction at a time.
///
/// How far a fan-out has come is in its row, so a process that dies costs one page of work; fan-outs take turns, so a topic of
/// thousands does not hold up one of three. Any number of instances may run: each page is made by one of them.
public struct TopicFanOutService: Service {
    /// How much is done at a time.
    public struct Configuration: Sendable {
        /// The pause when there was nothing to do.
        public var interval: Duration = .milliseconds(500)
        /// The most members of a page.
        public var pageMembers = 500

        /// The defaults.
        public init() {}
    }

    private let postgres: PostgresClient
    private let configuration: Configuration
    private let logger: Logger

    /// Makes the service.
    public init(postgres: PostgresClient, configuration: Configuration = Configuration(), logger: Logger) {
        self.postgres = postgres
        self.configuration = configuration
        self.logger = logger
    }

    /// Makes deliveries until the service shuts down. A page that fails is logged, and made again.
    public func run() async throws {
        await periodically("fan-out", every: configuration.interval, logger: logger) {
            while try await makePage() { try Task.checkCancellation() }
        }
    }

    /// Makes the next page of the fan-out whose turn it is.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func makePage() async throws -> Bool {
        try await postgres.withTransaction { transaction in
            let fanOuts = TopicFanOutRepository(transaction)
            guard let fanOut = try await fanOuts.next() else { return false }
            guard fanOut.state == .requested, fanOut.expiresAt > Date() else {
                // What was addressed is the senders' to end; the rest is not worth telling any more.
                try await end(fanOut, made: 0, ifNone: .expired, in: transaction)
                return true
            }
            let members = try await fanOuts.page(of: fanOut, limit: configuration.pageMembers)
            let made = try await address(members.filter { $0 != fanOut.exceptUserID }, of: fanOut, in: transaction)
            if members.count == configuration.pageMembers, let last = members.last {
                try await fanOuts.advance(fanOut, after: last, deliveries: made)
            } else {
                try await end(fanOut, made: made, ifNone: .noInstallation, in: transaction)
            }
            return true
        }
    }

    /// Makes the deliveries to the installations of some members, and hands them to the notifier.
    private func address(
        _ members: [UUID], of fanOut: TopicFanOut, in transaction: PostgresTransaction
    ) async throws -> Int {
        let installs = try await PushInstallRepository(transaction).findReachable(userIDs: members, lane: fanOut.lane)
        // An installation that passed from one member to another between two pages has its delivery already.
        let made = try await DeliveryRepository(transaction)
            .insertPending(installs.map { NewDelivery(of: fanOut.notificationID, to: $0) })
        try await OutboxRepository(transaction).append(
            NewOutboxMessage.addressed(
                Array(made), of: fanOut.notificationID, lane: fanOut.lane, requestID: fanOut.requestID,
                traceparent: fanOut.traceparent, expiresAt: fanOut.expiresAt))
        Counter(label: "heliograph_topic_deliveries").increment(by: made.count)
        return made.count
    }

    private func end(
        _ fanOut: TopicFanOut, made: Int, ifNone reason: SkipReason, in transaction: PostgresTransaction
    ) async throws {
        let notifications = NotificationRepository(transaction)
        let total = fanOut.deliveryCount + made
        if total > 0 {
            try await notifications.markAddressed([fanOut.notificationID])
            // The pushes of earlier pages may all have ended by now, and nobody would look again.
            try await notifications.settle([fanOut.notificationID])
        } else {
            try await notifications.markSkipped([fanOut.notificationID], reason: reason.rawValue)
        }
        try await TopicFanOutRepository(transaction).end(fanOut.notificationID)
        logger.debug(
            "fan-out ended",
            metadata: ["notification_id": "\(fanOut.notificationID.wireString)", "deliveries": "\(total)"])
    }
}
