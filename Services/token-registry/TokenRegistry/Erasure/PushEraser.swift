internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import WireFormat

/// Erases the push data of a user: installations with their tokens and history, and the ledger of pushes to the user; withdraws pending
/// pushes to the user and from them.
///
/// A push that is being sent is left to its sender. A fan-out that is making a page at the time may still make a delivery to a deleted
/// installation: its sender finds no installation, and skips it.
struct PushEraser: UserEraser {
    private static let sliceSize = 200

    func erase(_ erasure: Erasure, _ ledger: ErasureLedger) async throws -> Bool {
        guard erasure.scope == .account else { return true }
        let userID = erasure.userID
        try await ledger.step("push_installs") { try await withdraw(userID, in: $0) }
        while try await ledger.step(
            "notifications",
            {
                try await PushErasureRepository($0).deleteEnded(of: userID, limit: Self.sliceSize)
            }) == Self.sliceSize
        {}
        let pushes = PushErasureRepository(ledger.postgres)
        try await pushes.forgetBounds(of: userID)
        return try await !pushes.hasOpen(of: userID)
    }

    /// Deletes the installations and withdraws the pushes; returns the number of installations.
    private func withdraw(_ userID: UUID, in transaction: PostgresTransaction) async throws -> Int {
        // Sessions before installations, in the order of a redemption.
        let uploaded = try await SessionRepository(transaction).releaseInstalls(userID: userID)
        let installIDs = try await PushInstallRepository(transaction).erase(userID: userID)
        try await withdraw(installIDs: installIDs, in: transaction)
        try await AppNotificationRepository(transaction).forget(userID: userID)
        let notifications = NotificationRepository(transaction)
        let open = try await notifications.eraseOpen(of: userID, installIDs: installIDs)
        try await DeliveryRepository(transaction).withdraw(notificationIDs: open, code: .userErased)
        try await notifications.markSkipped(open, reason: .userErased)
        try await notifications.settle(open)
        return installIDs.count + (try await PushInstallRepository(transaction).deleteUnneeded(ids: uploaded))
    }

    /// Settles the pending deliveries to deleted installations, and publishes their outcomes; a delivery that is being sent is left to its
    /// sender.
    private func withdraw(installIDs: [UUID], in transaction: PostgresTransaction) async throws {
        let withdrawn = try await DeliveryRepository(transaction).withdraw(installIDs: installIDs, code: .userErased)
        let events = Dictionary(grouping: withdrawn, by: \.notificationID).map { notificationID, deliveries in
            NotificationSettled(
                notificationID: notificationID,
                outcomes: deliveries.map {
                    SettledDelivery(
                        deliveryID: $0.id, installationID: $0.installID, outcome: .skipped, code: DeliveryCode.userErased.rawValue)
                })
        }
        try await OutboxRepository(transaction).publish(events)
    }
}
