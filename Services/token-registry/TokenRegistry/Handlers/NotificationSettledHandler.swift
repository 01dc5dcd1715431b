public import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import Push
public import WireFormat

/// Applies the outcomes of pushes: prunes dead tokens, settles finished notifications, and wipes the push tokens of face sessions.
///
/// The outcomes themselves are already in `deliveries`, written by the notifier. All of it is idempotent except the count of answers,
/// which only serves to detect an outage.
public struct NotificationSettledHandler: EventBatchHandler {
    /// The most acceptances that one event counts for: more than a sender writes in one transaction.
    private static let maxAccepted = 100_000

    private let logger: Logger

    /// Makes the handler.
    public init(logger: Logger) {
        self.logger = logger
    }

    /// Applies the outcomes of a batch in one transaction, which commits asynchronously: lost events are delivered again.
    public func handle(_ events: [Envelope<NotificationSettled>], in transaction: PostgresTransaction) async throws {
        // If an asynchronous commit is lost, the events are delivered again.
        try await transaction.commitAsynchronously()
        try await transaction.forceIndexPlans()
        try await InstallPruner(transaction: transaction, logger: logger).apply(
            outcomes: events.flatMap(\.body.outcomes),
            acceptedCount: events.reduce(0) { $0 + min(max($1.body.acceptedCount ?? 0, 0), Self.maxAccepted) })
        let ids = Array(Set(events.map(\.body.notificationID)))
        let notifications = NotificationRepository(transaction)
        let settled = try await notifications.settle(ids)
        try await SessionInstallCleanup(transaction: transaction, logger: logger)
            .run(for: notifications.find(ids: Array(settled)))
    }
}
