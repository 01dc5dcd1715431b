internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Takes back the pushes that wait for installations that are gone, and tells that they have ended.
struct Withdrawal {
    let transaction: PostgresTransaction

    /// Ends what waits for the installations; what is already being sent is left to its sender.
    ///
    /// - Returns: How many pushes were taken back.
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
