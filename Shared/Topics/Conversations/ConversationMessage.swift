public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// A message of a conversation, without its text, which is not stored: a row of `conversation_messages`.
public struct ConversationMessage: Sendable, Equatable {
    /// The time for which a message is kept: during it, a repetition is recognised and a read mark may name the message.
    public static let lifetime: Duration = .seconds(30 * 24 * 60 * 60)

    /// The conversation.
    public let topicID: UUID
    /// The id that the app gave it; unique in the conversation.
    public let messageID: String
    /// Its number in the conversation, from 1.
    public let number: Int64
    /// The user who sent it.
    public let senderID: UUID
    /// The notification of the push about it.
    public let notificationID: UUID
    /// When it was posted.
    public let createdAt: Date
    let fingerprint: [UInt8]

    init(row: PostgresRow) throws(PostgresError) {
        topicID = try row.decode("topic_id")
        messageID = try row.decode("message_id")
        number = try row.decode("seq")
        senderID = try row.decode("sender_id")
        notificationID = try row.decode("notification_id")
        createdAt = try row.decode("created_at")
        fingerprint = try row.decode("fingerprint")
    }
}

/// A message to post.
public struct NewConversationMessage: Sendable {
    /// The conversation.
    public var conversation: TopicName
    /// The id that the app gives it: 1 to 48 characters of A-Z a-z 0-9 _ - and the full stop.
    public var messageID: String
    /// The user who sends it; must be a member of the conversation.
    public var senderID: UUID
    /// The notification of the push about it.
    public var notificationID: UUID
    /// The keyed hashes of everything that a repetition must have in common with the message, 32 bytes each; the first one is stored.
    public var fingerprints: [[UInt8]]

    /// Describes a message that has just arrived.
    public init(conversation: TopicName, messageID: String, senderID: UUID, notificationID: UUID, fingerprints: [[UInt8]]) {
        self.conversation = conversation
        self.messageID = messageID
        self.senderID = senderID
        self.notificationID = notificationID
        self.fingerprints = fingerprints
    }
}

/// The result of posting a message.
public enum PostedMessage: Sendable, Equatable {
    /// The message is posted, and is the newest of the conversation.
    case posted(ConversationMessage, memberCount: Int)
    /// The message was posted before; this call changed nothing.
    case repeated(ConversationMessage)
    /// Another message has the same id.
    case idTaken
    /// The conversation does not exist, or the sender is not a member.
    case notFound
}

/// The result of marking messages as read.
public enum ReadMark: Sendable, Equatable {
    /// The number of items that are still unread.
    case unread(Int)
    /// The conversation has no such message, or has deleted it.
    case messageUnknown
    /// The topic does not exist, or the reader is not a member.
    case notFound
}
