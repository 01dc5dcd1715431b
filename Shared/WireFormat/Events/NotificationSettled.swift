public import FoundationEssentials

/// Deliveries of a notification reached their terminal state.
public struct NotificationSettled: Event {
    public static var type: EventType { .notificationSettled }
    public static var groups: [String] { ["token-registry"] }

    @WireUUID public var notificationID: UUID
    public var outcomes: [SettledDelivery]

    public var key: String { notificationID.wireString }

    public init(notificationID: UUID, outcomes: [SettledDelivery]) {
        self.notificationID = notificationID
        self.outcomes = outcomes
    }

    enum CodingKeys: String, CodingKey {
        case notificationID = "notification_id"
        case outcomes
    }
}
