public import FoundationEssentials
public import JSON

/// Deliveries of a notification reached their terminal state.
public struct NotificationSettled: Event {
    public static var type: EventType { .notificationSettled }
    public static var groups: [String] { ["token-registry"] }

    public var notificationID: UUID
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

    public init(from body: BodyReader) throws(BodyFault) {
        acceptedCount = try body.readIfPresent("accepted_count")
        notificationID = try body.read("notification_id")
        outcomes = try body.read("outcomes")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("accepted_count", acceptedCount)
        body.member("notification_id", notificationID)
        body.member("outcomes", outcomes)
    }
}
