public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// That somebody said something in a conversation: a row of `conversation_messages`. What was said is not kept.
public struct ConversationMessage: Sendable, Equatable {
    /// How long a message is remembered: until then its repetition is known, and a reader can name it.
    public static let lifetime: Duration = .seconds(30 * 24 * 60 * 60)

    /// The conversation.
    public let topicID: UUID
    /// What the app calls it; one in the conversation.
    public let messageID: String
    /// Its number in the conversation, from 1.
    public let number: Int64
    /// Who said it.
    public let senderID: UUID
    /// The push that tells of it.
    public let notificationID: UUID
    /// When it came.
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
    /// What the app calls it: 1 to 48 characters of A-Z a-z 0-9 _ - and the full stop.
    public var messageID: String
    /// Who says it; has to be in the conversation.
    public var senderID: UUID
    /// The push that will tell of it.
    public var notificationID: UUID
    /// HMAC of all that makes it this message and no other; 32 bytes.
    public var fingerprint: [UInt8]

    /// Describes a message that has just arrived.
    public init(conversation: TopicName, messageID: String, senderID: UUID, notificationID: UUID, fingerprint: [UInt8]) {
        self.conversation = conversation
        self.messageID = messageID
        self.senderID = senderID
        self.notificationID = notificationID
        self.fingerprint = fingerprint
    }
}

/// What came of a message.
public enum PostedMessage: Sendable, Equatable {
    /// It is the newest of the conversation, which has this many members.
    case posted(ConversationMessage, memberCount: Int)
    /// It was posted before; nothing changed.
    case repeated(ConversationMessage)
    /// Another one was posted before under its id.
    case idTaken
    /// There is no such conversation, as far as the sender may know.
    case notFound
}

/// What came of a wish to note what was read.
public enum ReadMark: Sendable, Equatable {
    /// So many are left.
    case unread(Int)
    /// The conversation knows no such message, or no longer.
    case messageUnknown
    /// There is no such topic, as far as the reader may know.
    case notFound
}
