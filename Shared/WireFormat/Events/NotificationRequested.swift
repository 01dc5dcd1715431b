public import FoundationEssentials
public import JSON

/// A notification was requested; names its contents and recipient, but no devices.
public struct NotificationRequested: Event {
    public static var type: EventType { .notificationRequested }
    public static var groups: [String] { ["token-registry"] }

    public var notificationID: UUID
    /// Two requests with the same key are one notification, for instance `ekyc:<session>`.
    public var dedupeKey: String
    public var kind: NotificationKind
    public var recipient: NotificationRecipient
    public var lane: Lane
    /// The parameters of the kind's texts and data; ids and words meant for the lock screen, never secrets.
    public var parameters: [String: String]
    /// Time after which the notification is not worth sending.
    public var expiresAt: Date

    public var key: String { recipient.id }

    public init(
        notificationID: UUID = UUIDv7.generate(), dedupeKey: String, kind: NotificationKind,
        recipient: NotificationRecipient, lane: Lane, parameters: [String: String], expiresAt: Date
    ) {
        self.notificationID = notificationID
        self.dedupeKey = dedupeKey
        self.kind = kind
        self.recipient = recipient
        self.lane = lane
        self.parameters = parameters
        self.expiresAt = expiresAt.roundedToMilliseconds
    }

    public init(from body: BodyReader) throws(BodyFault) {
        dedupeKey = try body.read("dedupe_key")
        expiresAt = try body.read("expires_at")
        kind = try body.read("kind")
        lane = try body.read("lane")
        notificationID = try body.read("notification_id")
        parameters = try body.read("parameters")
        recipient = try body.read("recipient")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("dedupe_key", dedupeKey)
        body.member("expires_at", expiresAt)
        body.member("kind", kind)
        body.member("lane", lane)
        body.member("notification_id", notificationID)
        body.member("parameters", parameters)
        body.member("recipient", recipient)
    }
}
