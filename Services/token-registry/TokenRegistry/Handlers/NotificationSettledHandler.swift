public import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import Storage
public import WireFormat

/// Draws the consequences of pushes that have ended: dead tokens are pruned, finished notifications are closed, and
/// what a face session left behind is wiped.
///
/// The outcomes themselves are already in `deliveries`, written by the notifier. Everything here but the count of answers is
/// idempotent, and that only serves to tell an outage.
public struct NotificationSettledHandler: EventBatchHandler {
    /// The most acceptances that one event tells of, and more than a sender writes in one transaction.
    private static let acceptedMax = 100_000

    private let logger: Logger

    /// Makes the handler.
    public init(logger: Logger) {
        self.logger = logger
    }

    public func handle(_ events: [Envelope<NotificationSettled>], in transaction: PostgresTransaction) async throws {
        // Whoever forgets this is told again.
        try await transaction.commitAsynchronously()
        try await transaction.findByKey()
        try await InstallPruner(transaction: transaction, logger: logger).prune(
            after: events.flatMap(\.body.outcomes),
            andAccepted: events.reduce(0) { $0 + min(max($1.body.acceptedCount ?? 0, 0), Self.acceptedMax) })
        let ids = Array(Set(events.map(\.body.notificationID)))
        let notifications = NotificationRepository(transaction)
        let settled = try await notifications.settle(ids)
        try await FinishedSessions(transaction: transaction, logger: logger)
            .forgetDevices(of: notifications.find(ids: Array(settled)))
    }
}
