public import FoundationEssentials
public import JSON

/// A notification was requested; names its contents and recipient, but no devices.
public struct NotificationRequested: Event {
    /// `notification.requested`, which is also the name of the stream.
    public static var type: EventType { .notificationRequested }
    /// Only token-registry, which plans the deliveries.
    public static var groups: [String] { ["token-registry"] }

    /// The id that the notification will have; `notifications.id`.
    public var notificationID: UUID
    /// Two requests with the same key are one notification, for instance `ekyc:<session>`.
    public var dedupeKey: String
    /// The kind of the notification, which has its own texts and data.
    public var kind: NotificationKind
    /// The session, user, topic, installation or list that the notification is for.
    public var recipient: NotificationRecipient
    /// The urgency, which is also the lane in which the deliveries are sent.
    public var lane: Lane
    /// The parameters of the kind's texts and data: ids, words meant for the lock screen, and sealed values, such as the nonce of a
    /// possession check and the texts of a chat message.
    public var parameters: [String: String]
    /// Time after which the notification is not worth sending.
    public var expiresAt: Date

    /// The id of the recipient, so that the notifications for one recipient are published in order.
    public var key: String { recipient.id }

    /// Creates the event; `expiresAt` is rounded to the millisecond.
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

    /// Reads `dedupe_key`, `expires_at`, `kind`, `lane`, `notification_id`, `parameters` and `recipient`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        dedupeKey = try body.read("dedupe_key")
        expiresAt = try body.read("expires_at")
        kind = try body.read("kind")
        lane = try body.read("lane")
        notificationID = try body.read("notification_id")
        parameters = try body.read("parameters")
        recipient = try body.read("recipient")
    }

    /// Writes `dedupe_key`, `expires_at`, `kind`, `lane`, `notification_id`, `parameters` and `recipient`.
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
