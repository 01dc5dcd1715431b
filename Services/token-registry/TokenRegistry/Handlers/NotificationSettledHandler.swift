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
/// The outcomes themselves are already in `deliveries`, written by the notifier. Everything here is idempotent.
public struct NotificationSettledHandler: EventBatchHandler {
    private let logger: Logger

    /// Makes the handler.
    public init(logger: Logger) {
        self.logger = logger
    }

    public func handle(_ events: [Envelope<NotificationSettled>], in transaction: PostgresTransaction) async throws {
        try await prune(events.flatMap(\.body.outcomes).filter { $0.outcome == .dead }, in: transaction)
        let ids = Array(Set(events.map(\.body.notificationID)))
        let notifications = NotificationRepository(transaction)
        let settled = try await notifications.settle(ids)
        try await FinishedSessions(transaction: transaction, logger: logger)
            .forgetDevices(of: notifications.find(ids: Array(settled)))
    }

    /// Marks the installations of dead tokens, unless they have registered a new one since the push was sent.
    private func prune(_ dead: [SettledDelivery], in transaction: PostgresTransaction) async throws {
        guard !dead.isEmpty else { return }
        let deliveries = try await DeliveryRepository(transaction).find(ids: dead.map(\.deliveryID))
        let marked = try await PushInstallRepository(transaction).markDead(
            deliveries.filter { $0.state == .dead }.map {
                DeadInstall(id: $0.installID, generation: $0.generation, code: $0.code ?? "UNREGISTERED")
            })
        for delivery in deliveries where marked.contains(delivery.installID) {
            logger.notice(
                "dead installation pruned",
                metadata: [
                    "installation_id": "\(delivery.installID.wireString)",
                    "notification_id": "\(delivery.notificationID.wireString)", "code": "\(delivery.code ?? "")",
                ])
        }
        Counter(label: "heliograph_push_installs_pruned").increment(by: marked.count)
    }
}
