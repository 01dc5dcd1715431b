public import FoundationEssentials
internal import HeliographCrypto
public import JSON
public import WireFormat

/// A message was posted to a conversation.
public struct ChatMessagePush: PushKind {
    /// `chat_message`.
    public static var kind: NotificationKind { .chatMessage }
    /// `chat`.
    public static var channelID: String? { "chat" }
    /// The message is unread.
    public static var hasBadge: Bool { true }
    /// Ten: a phone that pushes have not reached for seconds (FCM does not answer, or the quota is used up) gets the newest ones, with the
    /// true number of unread ones on its badge, not an hour's messages in a burst. The texts are in the conversation itself.
    public static var newestKept: Int? { 10 }
    /// Who reads the conversation sees the message.
    public static var condition: PushCondition? { .conversationNotShown }
    /// The time after which the conversation has gone on, in seconds.
    private static let lifetime: TimeInterval = 60 * 60
    /// The largest number of members for which the push is urgent: in a conversation of this size people wait for each other's answers.
    private static let maxUrgentMembers = 50
    private static let keyPrefix = "chat"

    /// The name of the conversation.
    public var conversation: TopicName
    /// The conversation's own id.
    public var topicID: UUID
    /// The id that the sender's app has given the message; unique within the conversation.
    public var messageID: String
    /// The sender.
    public var senderID: UUID
    /// The sender's name; nil when the sender has none.
    public var senderName: SealedText?
    /// The beginning of the text; nil when it is sensitive or empty.
    public var text: SealedText?

    /// Describes a message.
    public init(
        conversation: TopicName, topicID: UUID, messageID: String, senderID: UUID, senderName: SealedText?, text: SealedText?
    ) {
        self.conversation = conversation
        self.topicID = topicID
        self.messageID = messageID
        self.senderID = senderID
        self.senderName = senderName
        self.text = text
    }

    /// Makes the request for the push to the other members. Publish it in the transaction that posts the message.
    ///
    /// - Parameters:
    ///   - notificationID: The notification that the texts are sealed for.
    ///   - memberCount: The number of members, by which the lane is chosen.
    public func request(_ notificationID: UUID, postedAt: Date, memberCount: Int) -> NotificationRequested {
        NotificationRequested(
            notificationID: notificationID, dedupeKey: "\(Self.keyPrefix):\(topicID.wireString):\(messageID)", content: content,
            recipient: .topic(conversation), lane: memberCount <= Self.maxUrgentMembers ? .urgent : .normal, exceptUserID: senderID,
            expiresAt: postedAt.addingTimeInterval(Self.lifetime))
    }

    /// Returns the id of the message of a dedupe key; nil for a key of another kind.
    public static func messageID(of dedupeKey: String) -> String? {
        let parts = dedupeKey.split(separator: ":", maxSplits: 2)
        return parts.count == 3 && parts[0] == keyPrefix ? String(parts[2]) : nil
    }

    /// `PushContent.chatMessage`.
    public var content: PushContent { .chatMessage(self) }
    /// The message. Ids are unique within a conversation, so ten characters of the hash of the conversation's id follow. With a message id
    /// of 48 bytes the subject just fits Apple's 64 bytes, and an app finds the id between the colons.
    public var subject: String? { "chat:\(messageID):\(Base64URL.encode(SHA256.hash(conversation.id)).prefix(10))" }
    /// The conversation and the sender.
    public var references: PushReferences { PushReferences(topicID: topicID, senderID: senderID) }

    /// Reads `conversation`, `message_id`, `sender_id`, `topic_id` and, if present, `sender_name` and `text`.
    public init(from body: BodyReader) throws(BodyFault) {
        conversation = try body.read("conversation")
        messageID = try body.read("message_id")
        senderID = try body.read("sender_id")
        senderName = try body.readIfPresent("sender_name", sealedFor: .chatSenderName)
        text = try body.readIfPresent("text", sealedFor: .chatPreview)
        topicID = try body.read("topic_id")
    }

    /// Writes `conversation`, `message_id`, `sender_id`, `sender_name`, `text` and `topic_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("conversation", conversation)
        body.member("message_id", messageID)
        body.member("sender_id", senderID)
        body.member("sender_name", senderName)
        body.member("text", text)
        body.member("topic_id", topicID)
    }
}
