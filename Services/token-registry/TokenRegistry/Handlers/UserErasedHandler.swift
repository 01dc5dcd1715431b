public import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import Storage
public import WireFormat

/// Deletes the push data of a user: the installations with their tokens, those of face sessions, the audit, and the parameters
/// of notifications that are not settled; withdraws pending pushes.
///
/// A fan-out that is making a page at the time may still make a delivery to a deleted installation: its sender finds no
/// installation, and skips it. An app that is still signed in registers again with its next refresh.
public struct UserErasedHandler: EventBatchHandler {
    /// The code of a withdrawn delivery.
    public static let withdrawalCode = "user_erased"

    private let logger: Logger

    /// Makes the handler.
    public init(logger: Logger) {
        self.logger = logger
    }

    public func handle(_ events: [Envelope<UserErased>], in transaction: PostgresTransaction) async throws {
        for userID in Set(events.map(\.body.userID)) { try await erase(userID, in: transaction) }
    }

    private func erase(_ userID: UUID, in transaction: PostgresTransaction) async throws {
        // Sessions before installations, in the order of a redemption.
        let uploaded = try await SessionRepository(transaction).releaseInstalls(userID: userID)
        let installIDs = try await PushInstallRepository(transaction).erase(userID: userID)
        try await withdraw(installIDs: installIDs, in: transaction)
        try await AppNotificationRepository(transaction).forget(userID: userID)
        let notifications = NotificationRepository(transaction)
        let open = try await notifications.eraseOpen(of: userID, installIDs: installIDs)
        try await DeliveryRepository(transaction).withdraw(notificationIDs: open, code: Self.withdrawalCode)
        try await notifications.markSkipped(open, reason: SkipReason.userErased.rawValue)
        try await notifications.settle(open)
        try await PushInstallRepository(transaction).deleteUnneeded(ids: uploaded)
        logger.notice(
            "a user's push data was erased",
            metadata: [
                "user_id": "\(userID.wireString)", "installations": "\(installIDs.count)", "notifications": "\(open.count)",
            ])
        Counter(label: "push_users_erased_total").increment()
    }

    /// Settles the pending deliveries to deleted installations, and publishes their outcomes; a delivery that is being sent is left to its
    /// sender.
    private func withdraw(installIDs: [UUID], in transaction: PostgresTransaction) async throws {
        let withdrawn = try await DeliveryRepository(transaction).withdraw(installIDs: installIDs, code: Self.withdrawalCode)
        let events = Dictionary(grouping: withdrawn, by: \.notificationID).map { notificationID, deliveries in
            NotificationSettled(
                notificationID: notificationID,
                outcomes: deliveries.map {
                    SettledDelivery(deliveryID: $0.id, installationID: $0.installID, outcome: .skipped, code: Self.withdrawalCode)
                })
        }
        try await OutboxRepository(transaction).publish(events)
    }
}
