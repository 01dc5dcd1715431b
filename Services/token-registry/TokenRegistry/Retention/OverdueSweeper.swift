internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import ServiceDefaults
public import ServiceLifecycle
internal import Storage

/// Settles expired notifications whose events will not settle them any more, because they became dead letters or were lost.
///
/// Senders settle the expired deliveries they find themselves; the sweeper follows them after a grace period. Any number of
/// instances may run: each notification is taken by one of them.
public struct OverdueSweeper: Service {
    /// The code of a delivery that the sweeper has settled.
    public static let expiryCode = "NEVER_SENT"

    /// The interval, the grace period and the batch size.
    public struct Configuration: Sendable {
        /// The time between two sweeps.
        public var interval: Duration = .seconds(30)
        /// Time after its expiry during which a notification is left to its senders; longer than a sender's lease.
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
    /// - Returns: The number of settled notifications.
    @discardableResult
    public func sweep() async throws -> Int {
        var total = 0
        while true {
            let (found, ended) = try await sweepBatch()
            total += ended
            // When nothing of a batch was settled, senders have leases on it.
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
            try await SessionInstallCleanup(transaction: transaction, logger: logger).run(for: ended)
            return (overdue.count, ended.count)
        }
    }
}
