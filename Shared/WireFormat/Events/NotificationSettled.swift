public import FoundationEssentials

/// Deliveries of a notification reached their terminal state.
public struct NotificationSettled: Event {
    public static var type: EventType { .notificationSettled }
    public static var groups: [String] { ["token-registry"] }

    @WireUUID public var notificationID: UUID
    /// The deliveries that were not accepted, and the accepted ones of suspect installations.
    public var outcomes: [SettledDelivery]
    /// The number of all other accepted deliveries.
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
