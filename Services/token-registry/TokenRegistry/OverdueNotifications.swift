internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Push

/// Settles expired notifications whose events will not settle them any more, because they became dead letters or were lost.
///
/// Senders settle the expired deliveries they find themselves; this follows them after a grace period.
struct OverdueNotifications: Sendable {
    /// Time after its expiry during which a notification is left to its senders; longer than a sender's lease.
    private static let grace = Duration.seconds(5 * 60)
    /// The most notifications of one transaction.
    private static let batchSize = 100

    let postgres: PostgresClient
    let logger: Logger

    /// Settles all overdue notifications, and returns their number.
    func settle() async throws -> Int {
        var total = 0
        while true {
            let (found, ended) = try await settleBatch()
            total += ended
            // If no notification of a batch could be settled, senders hold leases on their deliveries.
            if found < Self.batchSize || ended == 0 { break }
        }
        Counter(label: "push_notifications_overdue_total").increment(by: total)
        return total
    }

    private func settleBatch() async throws -> (found: Int, ended: Int) {
        try await postgres.withTransaction { transaction in
            let notifications = NotificationRepository(transaction)
            let overdue = try await notifications.takeOverdue(grace: Self.grace, limit: Self.batchSize)
            let ids = overdue.map(\.id)
            try await DeliveryRepository(transaction).expireOpen(notificationIDs: ids, code: .neverSent)
            let skipped = try await notifications.markSkipped(ids, reason: .expired)
            let settled = try await notifications.settle(ids)
            let ended = overdue.filter { skipped.contains($0.id) || settled.contains($0.id) }
            try await SessionInstallCleanup(transaction: transaction, logger: logger).run(for: ended)
            return (overdue.count, ended.count)
        }
    }
}
