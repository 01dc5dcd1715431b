internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import ServiceDefaults
public import ServiceLifecycle
internal import Storage

/// Ends notifications that nobody will end any more: their time is over, and the messages that would have ended them became
/// dead letters or were lost after their own time.
///
/// Senders end what they find expired themselves; this comes after them, by a grace period. Any number of instances may
/// run: each notification is taken by one of them.
public struct OverdueSweeper: Service {
    /// The code of a delivery that was ended here.
    public static let expiryCode = "NEVER_SENT"

    /// How much is ended, and when.
    public struct Configuration: Sendable {
        /// The time between two sweeps.
        public var interval: Duration = .seconds(30)
        /// How long after its expiry a notification is left to those who should end it; longer than a sender's lease.
        public var grace: Duration = .seconds(5 * 60)
        /// The most notifications of one transaction.
        public var batchRows = 100

        /// The defaults.
        public init() {}
    }

    private let postgres: PostgresClient
    private let configuration: Configuration
    private let logger: Logger

    /// Makes a sweeper.
    public init(postgres: PostgresClient, configuration: Configuration = Configuration(), logger: Logger) {
        self.postgres = postgres
        self.configuration = configuration
        self.logger = logger
    }

    /// Sweeps until the service shuts down. A sweep that fails is logged, and the next one tries again.
    public func run() async throws {
        await periodically("sweep of overdue notifications", every: configuration.interval, logger: logger) { try await sweep() }
    }

    /// Sweeps once.
    ///
    /// - Returns: How many notifications were ended.
    @discardableResult
    public func sweep() async throws -> Int {
        var total = 0
        while true {
            let (found, ended) = try await sweepBatch()
            total += ended
            // A batch of which nothing ended is in the hands of senders.
            if found < configuration.batchRows || ended == 0 { break }
        }
        guard total > 0 else { return 0 }
        logger.notice("overdue notifications ended", metadata: ["count": "\(total)"])
        Counter(label: "push_notifications_overdue_total").increment(by: total)
        return total
    }

    private func sweepBatch() async throws -> (found: Int, ended: Int) {
        try await postgres.withTransaction { transaction in
            let notifications = NotificationRepository(transaction)
            let overdue = try await notifications.takeOverdue(grace: configuration.grace, limit: configuration.batchRows)
            let ids = overdue.map(\.id)
            try await DeliveryRepository(transaction).expireOpen(notificationIDs: ids, code: Self.expiryCode)
            let skipped = try await notifications.markSkipped(ids, reason: SkipReason.expired.rawValue)
            let settled = try await notifications.settle(ids)
            let ended = overdue.filter { skipped.contains($0.id) || settled.contains($0.id) }
            try await FinishedSessions(transaction: transaction, logger: logger).forgetDevices(of: ended)
            return (overdue.count, ended.count)
        }
    }
}
