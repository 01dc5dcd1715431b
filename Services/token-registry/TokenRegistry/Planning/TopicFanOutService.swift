internal import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import Push
internal import ServiceDefaults
public import ServiceLifecycle
internal import Topics
public import WireFormat

/// Creates the deliveries of notifications for big topics and long lists of users: one part, some of the members, per transaction.
///
/// The progress of a fan-out is in its row, so a process that dies costs one part of the work. Each lane is worked on independently
/// and its fan-outs take turns, so that a mailing to thousands delays neither an urgent notification nor another mailing. A
/// fan-out keeps a bounded number of deliveries ahead of the notifier: however many members a topic has, and however long FCM
/// is down, memory, tables and streams hold no more than that. Any number of instances may run: each part is made by one.
public struct TopicFanOutService: Service {
    /// The size of a part, the bound of open deliveries and the pauses.
    public struct Configuration: Sendable {
        /// The pause after a pass without work.
        public var interval: Duration = .milliseconds(250)
        /// The most members of a part; each has up to ``PushInstallLimits/maxPerUser`` installations, few have more than two.
        public var partMembers = 2_000
        /// The number of open deliveries above which a fan-out waits: half a second of work for a notifier with a server on the same
        /// machine, and two seconds at the initial FCM quota.
        public var maxOpenDeliveries = 20_000
        /// The wait of such a fan-out before it is tried again.
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

    /// Creates deliveries until the service shuts down. A part that fails is logged, and made again.
    public func run() async throws {
        await withTaskGroup { group in
            for lane in Lane.allCases {
                group.addTask {
                    await periodically("fan-out", every: configuration.interval, logger: logger) { try await makeParts(on: lane) }
                }
                group.addTask { await cancelWhenGracefulShutdown { await makePartsOnSignal(on: lane) } }
            }
        }
    }

    private func makeParts(on lane: Lane) async throws {
        while try await makePart(on: lane) { try Task.checkCancellation() }
    }

    /// Makes parts as soon as this process has committed the start of a fan-out; a failed part is left to the next regular pass.
    private func makePartsOnSignal(on lane: Lane) async {
        for await _ in postgres.notifications(on: TopicFanOutRepository.channel) { try? await makeParts(on: lane) }
    }

    /// Makes the next part of the fan-out whose turn it is.
    ///
    /// - Returns: Whether there was a fan-out that did not have to wait for the notifier.
    @discardableResult
    public func makePart(on lane: Lane) async throws -> Bool {
        try await postgres.withTransaction { transaction in
            // An asynchronous commit that is lost loses the part together with the progress, and the part is made again; its pushes that
            // were sent by then are sent again, and replace themselves.
            try await transaction.commitAsynchronously()
            let fanOuts = TopicFanOutRepository(transaction)
            guard let fanOut = try await fanOuts.next(on: lane) else { return false }
            guard fanOut.state == .requested, fanOut.expiresAt > Date() else {
                // Senders settle the deliveries made so far; the other members get no delivery.
                try await end(fanOut, made: 0, ifNone: .expired, in: transaction)
                return true
            }
            if fanOut.deliveryCount - fanOut.endedDeliveries > configuration.maxOpenDeliveries {
                try await fanOuts.deferFanOut(fanOut, for: configuration.backPressurePause)
                return false
            }
            let part = try await fanOuts.addPages(of: fanOut, limit: configuration.partMembers)
            let planner = DeliveryPlanner(transaction: transaction)
            let made = try await planner.publish([(DeliveryPlanner.Order(fanOut), part.pages)])[fanOut.notificationID] ?? 0
            Counter(label: "push_fan_out_deliveries_total").increment(by: made)
            if part.memberCount == configuration.partMembers, let last = part.lastUserID {
                try await fanOuts.advance(fanOut, after: last, deliveries: made)
            } else {
                try await end(fanOut, made: made, ifNone: .noInstallation, in: transaction)
            }
            return true
        }
    }

    private func end(
        _ fanOut: TopicFanOut, made: Int, ifNone reason: SkipReason, in transaction: PostgresTransaction
    ) async throws {
        let notifications = NotificationRepository(transaction)
        let total = fanOut.deliveryCount + made
        if total > 0 {
            try await notifications.markAddressed([fanOut.notificationID: total])
            // All deliveries of earlier parts may be settled by now, and then no further event would settle the notification.
            try await notifications.settle([fanOut.notificationID])
        } else {
            let reachesBlockers = try await TopicFanOutRepository(transaction).reachesBlockers(fanOut)
            let isBlocked = reason == .noInstallation && reachesBlockers
            try await notifications.markSkipped([fanOut.notificationID], reason: isBlocked ? .senderBlocked : reason)
        }
        try await TopicFanOutRepository(transaction).end(fanOut.notificationID)
        if fanOut.topicID == nil { try await AppNotificationRepository(transaction).forgetRecipients(of: [fanOut.notificationID]) }
        logger.debug(
            "fan-out ended",
            metadata: ["notification_id": "\(fanOut.notificationID.wireString)", "deliveries": "\(total)"])
    }
}

extension DeliveryPlanner.Order {
    fileprivate init(_ fanOut: TopicFanOut) {
        self.init(
            notificationID: fanOut.notificationID, lane: fanOut.lane, requestID: fanOut.requestID, traceparent: fanOut.traceparent,
            expiresAt: fanOut.expiresAt, isForTopic: fanOut.topicID != nil)
    }
}
