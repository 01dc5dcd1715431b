internal import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import ServiceDefaults
public import ServiceLifecycle
internal import Storage
public import WireFormat

/// Creates the deliveries of notifications for big topics and long lists of users: one page of members per transaction.
///
/// The progress of a fan-out is in its row, so a process that dies costs one page of work. Each lane is worked on independently
/// and its fan-outs take turns, so that a mailing to thousands delays neither an urgent notification nor another mailing. A
/// fan-out keeps a bounded number of deliveries ahead of the notifier: however many members a topic has, and however long FCM
/// is down, memory, tables and streams hold no more than that. Any number of instances may run: each page is made by one.
public struct TopicFanOutService: Service {
    /// The page size, the bound of open deliveries and the pauses.
    public struct Configuration: Sendable {
        /// The pause after a pass without work.
        public var interval: Duration = .milliseconds(250)
        /// The most members of a page; each has up to ``PushInstallLimits/maxPerUser`` installations, few have more than two.
        public var pageMembers = 2_000
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

    /// Creates deliveries until the service shuts down. A page that fails is logged, and made again.
    public func run() async throws {
        await withTaskGroup { group in
            for lane in Lane.allCases {
                group.addTask {
                    await periodically("fan-out", every: configuration.interval, logger: logger) { try await makePages(on: lane) }
                }
                group.addTask { await cancelWhenGracefulShutdown { await makePagesOnSignal(on: lane) } }
            }
        }
    }

    private func makePages(on lane: Lane) async throws {
        while try await makePage(on: lane) { try Task.checkCancellation() }
    }

    /// Makes pages as soon as this process has committed the start of a fan-out; a failed page is left to the next regular pass.
    private func makePagesOnSignal(on lane: Lane) async {
        for await _ in postgres.notifications(on: TopicFanOutRepository.channel) { try? await makePages(on: lane) }
    }

    /// Makes the next page of the fan-out whose turn it is.
    ///
    /// - Returns: Whether there was a fan-out that did not have to wait for the notifier.
    @discardableResult
    public func makePage(on lane: Lane) async throws -> Bool {
        try await postgres.withTransaction { transaction in
            // An asynchronous commit that is lost loses the page together with the progress, and the page is made again; its pushes that
            // were sent by then are sent again, and replace themselves.
            try await transaction.commitAsynchronously()
            let fanOuts = TopicFanOutRepository(transaction)
            guard let fanOut = try await fanOuts.next(on: lane) else { return false }
            guard fanOut.state == .requested, fanOut.expiresAt > Date() else {
                // Senders settle the deliveries made so far; the rest of the members get none.
                try await end(fanOut, made: 0, ifNone: .expired, in: transaction)
                return true
            }
            if fanOut.deliveryCount - fanOut.endedDeliveries > configuration.maxOpenDeliveries {
                try await fanOuts.deferFanOut(fanOut, for: configuration.backPressurePause)
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

    /// Creates the deliveries to the installations of a page of members.
    private func address(
        _ page: TopicFanOutPage, of fanOut: TopicFanOut, in transaction: PostgresTransaction
    ) async throws -> Int {
        let now = Date()
        let addresses = page.addresses.filter {
            $0.userID != fanOut.exceptUserID && $0.isReachable(on: fanOut.lane, at: now)
        }
        let order = DeliveryPlanner.Order(
            notificationID: fanOut.notificationID, lane: fanOut.lane, requestID: fanOut.requestID,
            traceparent: fanOut.traceparent, expiresAt: fanOut.expiresAt, isForTopic: fanOut.topicID != nil, addresses: addresses)
        let made = try await DeliveryPlanner(transaction: transaction).plan([order])[order.notificationID] ?? 0
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
            // All deliveries of earlier pages may be settled by now, and then no further event would settle the notification.
            try await notifications.settle([fanOut.notificationID])
        } else {
            try await notifications.markSkipped([fanOut.notificationID], reason: reason.rawValue)
        }
        try await TopicFanOutRepository(transaction).end(fanOut.notificationID)
        if fanOut.topicID == nil { try await AppNotificationRepository(transaction).forgetRecipients(of: [fanOut.notificationID]) }
        logger.debug(
            "fan-out ended",
            metadata: ["notification_id": "\(fanOut.notificationID.wireString)", "deliveries": "\(total)"])
    }
}
