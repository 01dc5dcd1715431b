internal import FoundationEssentials
internal import JSON
internal import Topics
internal import WireFormat

/// The body of a message.
struct MessageBody: JSONObjectBody {
    static let idField = "message_id"
    static let fields = BodyFields<MessageBody>(.ownMessageID, .optionalText("text", .text(0...ChatMessage.maxTextBytes)), .sensitive) {
        id, text, isSensitive throws(APIError) in
        guard isSensitive || text != nil else { throw APIError(.missingField, "A field is missing", field: "text") }
        guard (text?.utf8.count ?? 0) <= ChatMessage.maxTextBytes else {
            throw APIError(.invalidRequest, "A text has up to \(ChatMessage.maxTextBytes / 1_024) KB", field: "text")
        }
        return MessageBody(messageID: id, text: text, isSensitive: isSensitive)
    }
    /// A text whose every byte is escaped, and 4 KiB for the other fields.
    static let maxBytes = 6 * ChatMessage.maxTextBytes + 4 * 1_024
    static let example: JSONValue? = ["message_id": "m-1001", "text": "See you at eight"]

    let messageID: String
    /// The text; nil when only the members' devices know it.
    let text: String?
    /// Whether a lock screen must show nothing of the message.
    let isSensitive: Bool
}

/// The body that marks a topic as read.
struct ReadBody: JSONObjectBody {
    static let fields = BodyFields<ReadBody>(.optionalWord(MessageBody.idField, .messageID)) { id throws(APIError) in
        ReadBody(messageID: try id.map { id throws(APIError) in try ChatMessage.checkedID(id) })
    }
    static let maxBytes = 4 * 1_024
    static let isRequired = false

    /// The newest message that was read; nil for all.
    let messageID: String?
}

extension BodyFields<String> {
    /// The id that the app gives a message.
    fileprivate static let ownMessageID = BodyFields(MessageBody.idField, .messageID) { body, name throws(APIError) in
        let id = try ChatMessage.checkedID(try body.requiredWord(name))
        guard !id.isPlaceholder else {
            throw APIError(.invalidRequest, "A message's id stands for nothing: each message has its own", field: name)
        }
        return id
    }
}

extension BodyFields<Bool> {
    fileprivate static let sensitive = BodyFields("sensitive", .boolean.orNull, isRequired: false) { body, name throws(APIError) in
        try body.bool(name) ?? false
    }
}

/// A message that was posted.
struct MessageReply: APIObject {
    static let members: [APIMember<MessageReply>] = [
        .required(MessageBody.idField, \.message.messageID, .messageID), .required("conversation_id", \.conversation.id),
        .required("created_at", \.message.createdAt),
    ]

    let message: ConversationMessage
    let conversation: TopicName
}

/// The messages that are left after a topic was read.
struct ReadTopic: APIObject {
    static let members: [APIMember<ReadTopic>] = [
        .required("topic", \.topic), .required("unread", \.unread), .required("badge", \.badge),
    ]

    let topic: TopicName
    let unread: Int
    let badge: Int
}
