internal import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import ServiceDefaults
public import ServiceLifecycle
internal import Storage
public import WireFormat

/// Makes the deliveries of notifications for big topics: a page of members and one transaction at a time.
///
/// How far a fan-out has come is in its row, so a process that dies costs one page of work. Each lane is worked on by itself
/// and its fan-outs take turns, so that a mailing to thousands holds up neither an urgent notification nor another mailing. A
/// fan-out keeps a bounded number of deliveries ahead of the notifier: however many members a topic has, and however long FCM
/// is away, memory, tables and streams hold no more than that. Any number of instances may run: each page is made by one.
public struct TopicFanOutService: Service {
    /// How much is done at a time.
    public struct Configuration: Sendable {
        /// The pause when there was nothing to do.
        public var interval: Duration = .milliseconds(250)
        /// The most members of a page; each has up to ``PushInstallLimits/perUserMax`` installations, few have more than two.
        public var pageMembers = 2_000
        /// With more open deliveries than this a fan-out waits: half a second of work for a notifier whose server is as near as can be, and
        /// two at the share of the quota that FCM grants at first.
        public var openDeliveriesMax = 20_000
        /// How long it waits before it looks again.
        public var backPressurePause: Duration = .milliseconds(250)

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
        await withTaskGroup { group in
            for lane in Lane.allCases {
                group.addTask {
                    await periodically("fan-out", every: configuration.interval, logger: logger) { try await makePages(on: lane) }
                }
                group.addTask { await cancelWhenGracefulShutdown { await makePagesAtOnce(on: lane) } }
            }
        }
    }

    private func makePages(on lane: Lane) async throws {
        while try await makePage(on: lane) { try Task.checkCancellation() }
    }

    /// Begins with a fan-out when its first row is committed by this process; what fails is left to the next look.
    private func makePagesAtOnce(on lane: Lane) async {
        for await _ in postgres.notifications(on: TopicFanOutRepository.channel) { try? await makePages(on: lane) }
    }

    /// Makes the next page of the fan-out whose turn it is.
    ///
    /// - Returns: Whether there was one, and it did not have to wait for the notifier.
    @discardableResult
    public func makePage(on lane: Lane) async throws -> Bool {
        try await postgres.withTransaction { transaction in
            // A page that is forgotten is made again, how far the fan-out has come being forgotten with it; its pushes that were sent
            // meanwhile are sent again, and replace themselves.
            try await transaction.commitAsynchronously()
            let fanOuts = TopicFanOutRepository(transaction)
            guard let fanOut = try await fanOuts.next(on: lane) else { return false }
            guard fanOut.state == .requested, fanOut.expiresAt > Date() else {
                // What was addressed is the senders' to end; the rest is not worth telling any more.
                try await end(fanOut, made: 0, ifNone: .expired, in: transaction)
                return true
            }
            if fanOut.deliveryCount - fanOut.endedDeliveries > configuration.openDeliveriesMax {
                try await fanOuts.postpone(fanOut, for: configuration.backPressurePause)
                return false
            }
            let page = try await fanOuts.page(of: fanOut, limit: configuration.pageMembers)
            let made = try await address(page, of: fanOut, in: transaction)
            if page.memberCount == configuration.pageMembers, let last = page.lastUserID {
                try await fanOuts.advance(fanOut, after: last, deliveries: made)
            } else {
                try await end(fanOut, made: made, ifNone: .noInstallation, in: transaction)
            }
            return true
        }
    }

    /// Makes the deliveries to the installations of some members, and hands them to the notifier.
    private func address(
        _ page: TopicFanOutPage, of fanOut: TopicFanOut, in transaction: PostgresTransaction
    ) async throws -> Int {
        let now = Date()
        let addresses = page.addresses.filter {
            $0.userID != fanOut.exceptUserID && $0.isReachable(on: fanOut.lane, at: now)
        }
        let order = Addressing.Order(
            notificationID: fanOut.notificationID, lane: fanOut.lane, requestID: fanOut.requestID,
            traceparent: fanOut.traceparent, expiresAt: fanOut.expiresAt, isForTopic: true, addresses: addresses)
        let made = try await Addressing(transaction: transaction).addressPages(order)
        Counter(label: "push_fan_out_deliveries_total").increment(by: made)
        return made
    }

    private func end(
        _ fanOut: TopicFanOut, made: Int, ifNone reason: SkipReason, in transaction: PostgresTransaction
    ) async throws {
        let notifications = NotificationRepository(transaction)
        let total = fanOut.deliveryCount + made
        if total > 0 {
            try await notifications.markAddressed([fanOut.notificationID: total])
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
