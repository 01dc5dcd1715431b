public import FoundationEssentials
public import JSON
public import WireFormat

/// A notification was requested; names its content and its recipient, but no devices.
///
/// The kinds of push make it: ``PushKind``.
public struct NotificationRequested: Event {
    /// `notification.requested`, which is also the name of the stream.
    public static var type: EventType { .notificationRequested }
    /// Only token-registry, which plans the deliveries.
    public static var groups: [String] { ["token-registry"] }

    /// The id that the notification will have; `notifications.id`.
    public var notificationID: UUID
    /// Two requests with the same key are one notification, for instance `ekyc:<session>`.
    public var dedupeKey: String
    /// The content, with texts of people and secrets sealed.
    public var content: PushContent
    /// The session, user, topic, installation or list that the notification is for.
    public var recipient: NotificationRecipient
    /// The urgency, which is also the lane in which the deliveries are sent.
    public var lane: Lane
    /// The member who caused the notification, and therefore gets none; only with a topic as the recipient.
    public var exceptUserID: UUID?
    /// The installation (`push_installs.id`) that gets none; only with a user as the recipient.
    public var exceptInstallID: UUID?
    /// Time after which the notification is not worth sending.
    public var expiresAt: Date

    /// The kind of the content.
    public var kind: NotificationKind { content.kind }
    /// The rows that the content is about.
    public var references: PushReferences { content.push.references }
    /// The id of the recipient, so that the notifications for one recipient are published in order.
    public var key: String { recipient.id }

    /// Creates the event; `expiresAt` is rounded to the millisecond.
    public init(
        notificationID: UUID = UUIDv7.generate(), dedupeKey: String, content: PushContent, recipient: NotificationRecipient, lane: Lane,
        exceptUserID: UUID? = nil, exceptInstallID: UUID? = nil, expiresAt: Date
    ) {
        self.notificationID = notificationID
        self.dedupeKey = dedupeKey
        self.content = content
        self.recipient = recipient
        self.lane = lane
        self.exceptUserID = exceptUserID
        self.exceptInstallID = exceptInstallID
        self.expiresAt = expiresAt.roundedToMilliseconds
    }

    /// Reads the members that ``writeMembers(to:)`` writes; throws if one is missing, except the two for whom it is not.
    public init(from body: BodyReader) throws(BodyFault) {
        dedupeKey = try body.read("dedupe_key")
        exceptInstallID = try body.readIfPresent("except_install_id")
        exceptUserID = try body.readIfPresent("except_user_id")
        expiresAt = try body.read("expires_at")
        lane = try body.read("lane")
        notificationID = try body.read("notification_id")
        recipient = try body.read("recipient")
        content = try PushContent(try body.read("kind"), from: body, member: "content")
    }

    /// Writes `content`, `dedupe_key`, `except_install_id`, `except_user_id`, `expires_at`, `kind`, `lane`, `notification_id` and
    /// `recipient`.
    public func writeMembers(to body: inout JSONWriter) {
        body.name("content")
        content.push.write(to: &body)
        body.member("dedupe_key", dedupeKey)
        body.member("except_install_id", exceptInstallID)
        body.member("except_user_id", exceptUserID)
        body.member("expires_at", expiresAt)
        body.member("kind", kind)
        body.member("lane", lane)
        body.member("notification_id", notificationID)
        body.member("recipient", recipient)
    }
}
