public import FoundationEssentials
public import JSON
public import WireFormat

/// A notification of an app's own server, which gives it a kind of its own (``AppContent/kind``).
public struct CustomPush: PushAboutThing {
    /// `custom`.
    public static var kind: NotificationKind { .custom }
    /// `custom`, followed by the id of the notification.
    public static var keyPrefix: String { "custom" }
    /// None: the channel is the app's own kind.
    public static var channelID: String? { nil }
    /// The app's server decides about the number by what it sends; a push that shows nothing has none.
    public static var hasBadge: Bool { true }

    /// The ``AppContent``, as JSON.
    public var app: SealedText
    /// The topic's own id; nil for a list of users.
    public var topicID: UUID?
    /// Whether the sealed content has a picture.
    public var hasPicture: Bool

    /// Describes a notification of an app.
    public init(app: SealedText, topicID: UUID?, hasPicture: Bool) {
        self.app = app
        self.topicID = topicID
        self.hasPicture = hasPicture
    }

    /// Makes the request for the push, with the lane and the expiry that the app's server wants. Publish it when it is due.
    ///
    /// - Parameter notificationID: The notification that the content is sealed for.
    public func request(_ notificationID: UUID, to recipient: NotificationRecipient, lane: Lane, expiresAt: Date) -> NotificationRequested {
        NotificationRequested(
            notificationID: notificationID, dedupeKey: Self.dedupeKey(about: notificationID), content: content, recipient: recipient,
            lane: lane, expiresAt: expiresAt)
    }

    /// `PushContent.custom`.
    public var content: PushContent { .custom(self) }
    /// None: the sealed content names it.
    public var subject: String? { nil }
    /// The topic.
    public var references: PushReferences { PushReferences(topicID: topicID) }

    /// Reads `app`, `has_picture` and, if present, `topic_id`.
    public init(from body: BodyReader) throws(BodyFault) {
        app = try body.read("app", sealedFor: .appContent)
        hasPicture = try body.read("has_picture")
        topicID = try body.readIfPresent("topic_id")
    }

    /// Writes `app`, `has_picture` and `topic_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("app", app)
        body.member("has_picture", hasPicture)
        body.member("topic_id", topicID)
    }
}
