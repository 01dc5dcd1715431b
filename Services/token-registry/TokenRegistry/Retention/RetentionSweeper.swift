internal import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import ServiceDefaults
public import ServiceLifecycle
internal import Storage

/// Deletes rows past their retention, in bounded batches: installations, notifications with their deliveries, the inbox and the
/// outbox. identity-api sweeps sessions and access tokens.
///
/// Several instances may run at once: each batch skips the rows that another has locked.
public struct RetentionSweeper: Service {
    /// The interval, the batch sizes and the retention times.
    public struct Configuration: Sendable {
        /// The time between two sweeps.
        public var interval: Duration = .seconds(60)
        /// The most rows one statement deletes.
        public var batchRows = 1000
        /// The most statements per table and sweep; the remaining rows wait for the next sweep.
        public var maxBatches = 20
        /// The time for which notifications and their deliveries are kept.
        public var notificationAge: Duration = .seconds(30 * 24 * 60 * 60)
        /// The time for which the audit of installations is kept.
        public var auditAge: Duration = .seconds(90 * 24 * 60 * 60)
        /// The time for which settled messages stay in the outbox, for tracing a request.
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

    /// Sweeps until the service shuts down. A step that fails is logged and counted, and tried again by the next sweep.
    public func run() async throws {
        await periodically("retention sweep", every: configuration.interval, logger: logger) { await sweep() }
    }

    /// Sweeps each table once, each as a step of its own.
    ///
    /// - Returns: The number of deleted rows by table; without the tables whose step failed.
    @discardableResult
    public func sweep() async -> [String: Int] {
        let limit = configuration.batchRows
        let steps = RetentionSteps(logger: logger)
        var deleted: [String: Int] = [:]
        deleted["push_installs"] = await steps.run("push_installs", expireInstalls)
        deleted["push_install_audit"] = await drain("push_install_audit", steps) {
            try await PushInstallRepository(postgres).deleteAudit(olderThan: configuration.auditAge, limit: limit)
        }
        await steps.run("push_guard") {
            // Recorded here because ``InstallPruner`` records it with new dead tokens only: the metric would stay at "tripped".
            Gauge(label: "push_guard_tripped").record(try await PushGuardRepository(postgres).isTripped() ? 1 : 0)
        }
        deleted["push_outcomes"] = await drain("push_outcomes", steps) {
            try await PushGuardRepository(postgres).deleteOld(limit: limit)
        }
        deleted["push_install_rates"] = await drain("push_install_rates", steps) {
            try await PushRateRepository(postgres).deleteOld(limit: limit)
        }
        if let counts = await steps.run("notifications", deleteNotifications) {
            (deleted["delivery_pages"], deleted["deliveries"], deleted["notifications"]) = counts
        }
        deleted["outbox"] = await drain("outbox", steps) {
            try await OutboxRepository(postgres).deleteSettled(olderThan: configuration.messageAge, limit: limit)
        }
        deleted["inbox"] = await drain("inbox", steps) { try await InboxRepository(postgres).deleteOlder(limit: limit) }
        for (table, count) in deleted where count > 0 {
            logger.info("retention sweep", metadata: ["table": "\(table)", "rows": "\(count)"])
            Counter(label: "retention_deleted_rows_total", dimensions: [("table", table)]).increment(by: count)
        }
        return deleted
    }

    /// Continues the daily pass that marks installations stale and deletes them.
    ///
    /// - Returns: The number of deleted installations.
    private func expireInstalls() async throws -> Int {
        var total = PushInstallExpiryStep()
        for _ in 0..<configuration.maxBatches {
            let step = try await postgres.withTransaction { transaction in
                try await PushInstallRepository(transaction).expireInstallations(limit: configuration.batchRows)
            }
            guard let step else { break }
            total.stale += step.stale
            total.deleted += step.deleted
        }
        Counter(label: "push_installs_stale_total").increment(by: total.stale)
        return total.deleted
    }

    /// Deletes old notifications, in turns with their delivery pages and deliveries, which come first.
    private func deleteNotifications() async throws -> (pages: Int, deliveries: Int, notifications: Int) {
        let (age, limit) = (configuration.notificationAge, configuration.batchRows)
        var total = (pages: 0, deliveries: 0, notifications: 0)
        for _ in 0..<configuration.maxBatches {
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

    private func drain(_ step: String, _ steps: RetentionSteps, _ deleteBatch: () async throws -> Int) async -> Int? {
        await steps.run(step) {
            var total = 0
            for _ in 0..<configuration.maxBatches {
                let count = try await deleteBatch()
                total += count
                if count < configuration.batchRows { break }
            }
            return total
        }
    }
}
