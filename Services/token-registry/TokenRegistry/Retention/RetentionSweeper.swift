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

    /// Sweeps until the service shuts down. A step that fails is logged and counted, and tried again by the next sweep.
    public func run() async throws {
        await periodically("retention sweep", every: configuration.interval, logger: logger) { await sweep() }
    }

    /// Sweeps each of these tables once, each as a step by itself.
    ///
    /// - Returns: How many rows each table lost; nothing of a table whose step failed.
    @discardableResult
    public func sweep() async -> [String: Int] {
        let limit = configuration.batchRows
        let steps = RetentionSteps(logger: logger)
        var deleted: [String: Int] = [:]
        deleted["push_installs"] = await steps.run("push_installs", walkInstalls)
        deleted["push_install_audit"] = await drain("push_install_audit", steps) {
            try await PushInstallRepository(postgres).deleteAudit(olderThan: configuration.auditAge, limit: limit)
        }
        await steps.run("push_guard") {
            // A guard that nobody asks any more would seem tripped for ever.
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

    private func drain(_ step: String, _ steps: RetentionSteps, _ deleteBatch: () async throws -> Int) async -> Int? {
        await steps.run(step) {
            var total = 0
            for _ in 0..<configuration.batchesMax {
                let count = try await deleteBatch()
                total += count
                if count < configuration.batchRows { break }
            }
            return total
        }
    }
}
