internal import EventBus
internal import FoundationEssentials
internal import Storage
internal import WireFormat

extension NewOutboxMessage {
    /// The events that hand deliveries to the notifier: one for every ``NotificationAddressed/deliveriesMax`` of them.
    static func addressed(
        _ deliveryIDs: [UUID], of notificationID: UUID, lane: Lane, requestID: String?, traceparent: String?, expiresAt: Date
    ) throws -> [NewOutboxMessage] {
        try stride(from: 0, to: deliveryIDs.count, by: NotificationAddressed.deliveriesMax).map { start in
            let part = deliveryIDs[start..<min(start + NotificationAddressed.deliveriesMax, deliveryIDs.count)]
            return try NewOutboxMessage(
                Envelope(
                    NotificationAddressed(notificationID: notificationID, deliveryIDs: Array(part), lane: lane),
                    traceparent: traceparent, requestID: requestID, expiresAt: expiresAt))
        }
    }
}

extension NewDelivery {
    /// A delivery of a notification to an installation as it is now.
    init(of notificationID: UUID, to install: PushInstall) {
        self.init(
            id: UUIDv7.generate(), notificationID: notificationID, installID: install.id, generation: install.generation)
    }
}
