public import FoundationEssentials
public import JSON

/// Deliveries of a notification reached their terminal state.
public struct NotificationSettled: Event {
    /// `notification.settled`, which is also the name of the stream.
    public static var type: EventType { .notificationSettled }
    /// Only token-registry, which prunes dead tokens and settles finished notifications.
    public static var groups: [String] { ["token-registry"] }

    /// The notification whose deliveries were settled; `notifications.id`.
    public var notificationID: UUID
    /// The deliveries that were not accepted, and the accepted ones of suspect installations.
    public var outcomes: [SettledDelivery]
    /// The number of all other accepted deliveries.
    public var acceptedCount: Int?

    /// The id of the notification as text, so that its outcomes are published in order.
    public var key: String { notificationID.wireString }

    /// Creates the event; deliveries in `outcomes` are not counted in `acceptedCount`.
    public init(notificationID: UUID, outcomes: [SettledDelivery], acceptedCount: Int? = nil) {
        self.notificationID = notificationID
        self.outcomes = outcomes
        self.acceptedCount = acceptedCount
    }

    /// Reads `notification_id` and `outcomes`, and `accepted_count` if it is there.
    public init(from body: BodyReader) throws(BodyFault) {
        acceptedCount = try body.readIfPresent("accepted_count")
        notificationID = try body.read("notification_id")
        outcomes = try body.read("outcomes")
    }

    /// Writes `accepted_count` unless it is nil, `notification_id` and `outcomes`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("accepted_count", acceptedCount)
        body.member("notification_id", notificationID)
        body.member("outcomes", outcomes)
    }
}
