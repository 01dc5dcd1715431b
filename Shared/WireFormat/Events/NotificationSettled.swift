public import FoundationEssentials

/// Deliveries of a notification reached their terminal state.
public struct NotificationSettled: Event {
    public static var type: EventType { .notificationSettled }
    public static var groups: [String] { ["token-registry"] }

    @WireUUID public var notificationID: UUID
    /// Those of which there is something to say.
    public var outcomes: [SettledDelivery]
    /// How many more were accepted.
    public var acceptedCount: Int?

    public var key: String { notificationID.wireString }

    public init(notificationID: UUID, outcomes: [SettledDelivery], acceptedCount: Int? = nil) {
        self.notificationID = notificationID
        self.outcomes = outcomes
        self.acceptedCount = acceptedCount
    }

    enum CodingKeys: String, CodingKey {
        case notificationID = "notification_id"
        case outcomes
        case acceptedCount = "accepted_count"
    }
}
