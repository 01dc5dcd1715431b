internal import AsyncPrimitives
internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Push
internal import Schema
internal import ServiceDefaults

extension TokenRegistry {
    /// The time for which notifications and their deliveries are kept.
    private static let notificationAge = Duration.seconds(30 * 24 * 60 * 60)
    /// The time for which the audit of installations is kept.
    private static let auditAge = Duration.seconds(90 * 24 * 60 * 60)
    /// The time for which settled messages stay in the outbox, for tracing a request.
    private static let messageAge = Duration.seconds(24 * 60 * 60)
    /// The pause between two counts of sealed texts of open notifications.
    static let sealedValuesInterval = Duration.seconds(10 * 60)
    /// The pause between two readings of the guard, for its metric.
    static let guardInterval = Duration.seconds(60)
    /// The most statements of a table in one sweep; the remaining rows wait for the next.
    private static let maxBatches = 20

    /// The sweeper of overdue notifications, and of rows past their retention: installations, notifications with their deliveries, and the
    /// outbox and the inbox of all services. identity-api sweeps sessions and access tokens.
    ///
    /// - Parameters:
    ///   - batchSize: The most rows that one statement deletes.
    ///   - expirySlices: See ``PushInstallRepository/expireInstallations(slice:of:)``.
    static func sweeper(
        postgres: PostgresClient, batchSize: Int = 1000, expirySlices: Int = PushInstallRepository.expirySlices, logger: Logger,
        clock: any MonotonicClock = ContinuousClock()
    ) -> Sweeper {
        let installs = PushInstallRepository(postgres)
        let sealedValues = SealedValueGauges(postgres: postgres, of: .tokenRegistry)
        func rows(
            _ table: String, _ delete: @escaping @Sendable (_ limit: Int) async throws -> Int
        ) -> Sweeper.Step {
            .batches(table, every: .seconds(60), of: batchSize, atMost: maxBatches, delete)
        }
        return Sweeper(
            logger: logger, clock: clock,
            steps: [
                Sweeper.Step("overdue_notifications", every: .seconds(30), logLevel: .notice) {
                    try await OverdueNotifications(postgres: postgres, logger: logger).settle()
                },
                // A day has one slice for each minute. Run several times a minute and apart from other steps, so that no slice is left out.
                Sweeper.Step("push_installs", every: .seconds(20)) {
                    let minute = Int(Date().timeIntervalSince1970 / 60)
                    let (deleted, stale) = try await installs.expireInstallations(slice: minute % expirySlices, of: expirySlices)
                    Counter(label: "push_installs_stale_total").increment(by: stale)
                    return deleted
                },
                Sweeper.Step("push_guard", every: guardInterval) {
                    // Recorded here because ``InstallPruner`` records it with new dead tokens only: the metric would stay at "tripped".
                    Gauge(label: "push_guard_tripped").record(try await PushGuardRepository(postgres).isTripped() ? 1 : 0)
                    return 0
                },
                rows("push_install_audit") { try await installs.deleteAudit(olderThan: auditAge, limit: $0) },
                rows("push_outcomes") { try await PushGuardRepository(postgres).deleteOld(limit: $0) },
                rows("push_install_rates") { try await PushRateRepository(postgres).deleteOld(limit: $0) },
                Sweeper.Step("notifications", every: .seconds(60)) { try await deleteNotifications(postgres, batchSize: batchSize) },
                rows("outbox") { try await OutboxRepository(postgres).deleteSettled(olderThan: messageAge, limit: $0) },
                rows("inbox") { try await InboxRepository(postgres).deleteOlder(limit: $0) },
                Sweeper.Step("sealed_values", every: sealedValuesInterval) {
                    try await sealedValues.record(olderThan: sealedValuesInterval)
                    return 0
                },
            ])
    }

    /// Deletes old notifications, in turns with their delivery pages and deliveries: each turn deletes pages and deliveries of the oldest
    /// `batchSize` notifications, and then the notifications that have no deliveries left.
    ///
    /// - Returns: The number of deleted rows.
    private static func deleteNotifications(_ postgres: PostgresClient, batchSize: Int) async throws -> Int {
        var total = 0
        for _ in 0..<maxBatches {
            let pages = try await DeliveryPageRepository(postgres).deleteOlder(than: notificationAge, limit: batchSize)
            let deliveries = try await DeliveryRepository(postgres).deleteOlder(than: notificationAge, limit: batchSize)
            let notifications = try await NotificationRepository(postgres).deleteOlder(than: notificationAge, limit: batchSize)
            total += pages + deliveries + notifications
            if max(pages, deliveries, notifications) < batchSize { break }
        }
        return total
    }
}
