internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import ServiceDefaults
public import ServiceLifecycle
internal import Storage

/// Deletes what has outlived its purpose, a bounded batch at a time, for as long as the service runs: installations,
/// notifications with their deliveries, the inbox and the outbox. Sessions and access tokens are identity-api's to sweep.
///
/// Several instances may run at once: each batch passes over the rows that another has locked.
public struct RetentionSweeper: Service {
    /// How much is deleted, and how often.
    public struct Configuration: Sendable {
        /// The time between two sweeps.
        public var interval: Duration = .seconds(60)
        /// The most rows one statement deletes.
        public var batchRows = 1000
        /// The most statements a table gets in one sweep; what is left waits for the next.
        public var batchesMax = 20
        /// How long notifications and their deliveries are kept.
        public var notificationAge: Duration = .seconds(30 * 24 * 60 * 60)
        /// How long it is kept what became of installations.
        public var auditAge: Duration = .seconds(90 * 24 * 60 * 60)
        /// How long messages are kept after they were handled, for tracing a request.
        public var messageAge: Duration = .seconds(24 * 60 * 60)

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
        await periodically("retention sweep", every: configuration.interval, logger: logger) { try await sweep() }
    }

    /// Sweeps each of these tables once.
    ///
    /// - Returns: How many rows each table lost.
    @discardableResult
    public func sweep() async throws -> [String: Int] {
        let limit = configuration.batchRows
        var deleted: [String: Int] = [:]
        deleted["push_installs"] = try await walkInstalls()
        deleted["push_install_audit"] = try await drain {
            try await PushInstallRepository(postgres).deleteAudit(olderThan: configuration.auditAge, limit: limit)
        }
        // A guard that nobody asks any more would seem tripped for ever.
        Gauge(label: "push_guard_tripped").record(try await PushGuardRepository(postgres).isTripped() ? 1 : 0)
        deleted["push_outcomes"] = try await drain { try await PushGuardRepository(postgres).deleteOld(limit: limit) }
        deleted["push_install_rates"] = try await drain { try await PushRateRepository(postgres).deleteOld(limit: limit) }
        (deleted["delivery_pages"], deleted["deliveries"], deleted["notifications"]) = try await deleteNotifications()
        deleted["outbox"] = try await drain {
            try await OutboxRepository(postgres).deleteSettled(olderThan: configuration.messageAge, limit: limit)
        }
        deleted["inbox"] = try await drain { try await InboxRepository(postgres).deleteOlder(limit: limit) }
        for (table, count) in deleted where count > 0 {
            logger.info("retention sweep", metadata: ["table": "\(table)", "rows": "\(count)"])
            Counter(label: "retention_deleted_rows_total", dimensions: [("table", table)]).increment(by: count)
        }
        return deleted
    }

    /// Goes on with the daily walk over the installations.
    ///
    /// - Returns: How many it deleted.
    private func walkInstalls() async throws -> Int {
        var total = PushInstallWalkStep()
        for _ in 0..<configuration.batchesMax {
            let step = try await postgres.withTransaction { transaction in
                try await PushInstallRepository(transaction).walk(limit: configuration.batchRows)
            }
            guard let step else { break }
            total.stale += step.stale
            total.deleted += step.deleted
        }
        Counter(label: "push_installs_stale_total").increment(by: total.stale)
        return total.deleted
    }

    /// Deletes old notifications, their deliveries first: a batch of one goes with a batch of the other.
    private func deleteNotifications() async throws -> (pages: Int, deliveries: Int, notifications: Int) {
        let (age, limit) = (configuration.notificationAge, configuration.batchRows)
        var total = (pages: 0, deliveries: 0, notifications: 0)
        for _ in 0..<configuration.batchesMax {
            let pages = try await DeliveryPageRepository(postgres).deleteOlder(than: age, limit: limit)
            let deliveries = try await DeliveryRepository(postgres).deleteOlder(than: age, limit: limit)
            let notifications = try await NotificationRepository(postgres).deleteOlder(than: age, limit: limit)
            total.pages += pages
            total.deliveries += deliveries
            total.notifications += notifications
            if max(pages, deliveries, notifications) < limit { break }
        }
        return total
    }

    private func drain(_ deleteBatch: () async throws -> Int) async throws -> Int {
        var total = 0
        for _ in 0..<configuration.batchesMax {
            let count = try await deleteBatch()
            total += count
            if count < configuration.batchRows { break }
        }
        return total
    }
}
