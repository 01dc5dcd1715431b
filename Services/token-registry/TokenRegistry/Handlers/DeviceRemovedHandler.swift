public import EventBus
internal import FoundationEssentials
public import Logging
internal import Metrics
public import PostgresClient
internal import Storage
public import WireFormat

/// Withdraws the pushes that wait for an installation whose user has signed out.
///
/// The row is gone before the event comes. What is already being sent is left to its sender.
public struct DeviceRemovedHandler: EventBatchHandler {
    /// The code of a withdrawn delivery.
    public static let withdrawalCode = "INSTALLATION_REMOVED"

    private let logger: Logger

    /// Makes the handler.
    public init(logger: Logger) {
        self.logger = logger
    }

    public func handle(_ events: [Envelope<DeviceRemoved>], in transaction: PostgresTransaction) async throws {
        let withdrawn = try await DeliveryRepository(transaction)
            .withdraw(installIDs: events.map(\.body.installationID), code: Self.withdrawalCode)
        let messages = try Dictionary(grouping: withdrawn, by: \.notificationID).map { notificationID, deliveries in
            try NewOutboxMessage(
                Envelope(
                    NotificationSettled(
                        notificationID: notificationID,
                        outcomes: deliveries.map {
                            SettledDelivery(
                                deliveryID: $0.id, installationID: $0.installID, outcome: .skipped,
                                code: Self.withdrawalCode)
                        })))
        }
        try await OutboxRepository(transaction).append(messages)
        for delivery in withdrawn {
            logger.debug("delivery withdrawn", metadata: ["delivery_id": "\(delivery.id.wireString)"])
        }
        Counter(label: "heliograph_devices_removed").increment(by: events.count)
    }
}
