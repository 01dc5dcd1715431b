internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Withdraws the pending pushes of installations that are gone, and publishes their outcomes.
struct Withdrawal {
    let transaction: PostgresTransaction

    /// Settles the pending deliveries of the installations; a delivery that is being sent is left to its sender.
    ///
    /// - Returns: The number of withdrawn deliveries.
    @discardableResult
    func withdraw(installIDs: [UUID], code: String) async throws -> Int {
        let withdrawn = try await DeliveryRepository(transaction).withdraw(installIDs: installIDs, code: code)
        let events = Dictionary(grouping: withdrawn, by: \.notificationID).map { notificationID, deliveries in
            NotificationSettled(
                notificationID: notificationID,
                outcomes: deliveries.map {
                    SettledDelivery(deliveryID: $0.id, installationID: $0.installID, outcome: .skipped, code: code)
                })
        }
        try await OutboxRepository(transaction).publish(events)
        return withdrawn.count
    }
}
