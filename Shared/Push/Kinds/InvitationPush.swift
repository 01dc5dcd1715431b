public import FoundationEssentials
public import JSON
public import WireFormat

/// The owner of a topic has invited the user. The push shows no text by the owner.
public struct InvitationPush: PushKind {
    /// `invitation`.
    public static var kind: NotificationKind { .invitation }
    /// `invitations`.
    public static var channelID: String? { "invitations" }
    /// A stranger must not be able to change the number on a phone's icon.
    public static var hasBadge: Bool { false }
    /// An invitation may be answered or withdrawn before the push is sent.
    public static var condition: PushCondition? { .invitationOpen }
    /// The time during which an invitation is worth a push, in seconds.
    private static let lifetime: TimeInterval = 24 * 60 * 60

    /// The name of the topic.
    public var topic: TopicName
    /// The topic's own id.
    public var topicID: UUID

    /// Describes an invitation.
    public init(topic: TopicName, topicID: UUID) {
        self.topic = topic
        self.topicID = topicID
    }

    /// Makes the request for the push to the invited user. Publish it in the transaction that makes the invitation.
    ///
    /// Because of its dedupe key, an invitation that is withdrawn and made again is pushed once, as long as token-registry keeps
    /// notifications (30 days).
    public func request(to userID: UUID) -> NotificationRequested {
        NotificationRequested(
            dedupeKey: "invitation:\(topicID.wireString):\(userID.wireString)", content: content, recipient: .user(userID), lane: .normal,
            expiresAt: Date(timeIntervalSinceNow: Self.lifetime))
    }

    /// `PushContent.invitation`.
    public var content: PushContent { .invitation(self) }
    /// The topic.
    public var subject: String? { "invitation:\(topic.text)" }
    /// The topic.
    public var references: PushReferences { PushReferences(topicID: topicID) }

    /// Reads `topic` and `topic_id`.
    public init(from body: BodyReader) throws(BodyFault) {
        topic = try body.read("topic")
        topicID = try body.read("topic_id")
    }

    /// Writes `topic` and `topic_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("topic", topic)
        body.member("topic_id", topicID)
    }
}
