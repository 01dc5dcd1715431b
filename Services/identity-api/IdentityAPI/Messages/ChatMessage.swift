internal import FoundationEssentials
internal import HeliographCrypto
internal import Push
internal import Topics
internal import WireFormat

/// A validated message of a request.
struct ChatMessage: Sendable {
    /// The maximum length of an id: with its prefix it has to fit into the collapse id of a push.
    static let maxMessageIDLength = 48
    /// The maximum size of a text.
    static let maxTextBytes = 16 * 1024
    /// The maximum number of characters of a preview: one more than a push shows, so that the notifier knows that the text continues.
    private static let previewCharacters = 101
    /// The maximum size of a preview, because a character may have any number of bytes.
    private static let maxPreviewBytes = 1_024

    let conversation: TopicName
    let messageID: String
    /// The text; nil when only the members' devices know it.
    let text: String?
    /// Whether a lock screen must show nothing of the message.
    let isSensitive: Bool

    init(_ body: MessageBody, in conversation: TopicName) {
        self.conversation = conversation
        (messageID, text, isSensitive) = (body.messageID, body.text, body.isSensitive)
    }

    /// Returns the id if it is valid.
    static func checkedID(_ id: String) throws(APIError) -> String {
        let isID =
            1...maxMessageIDLength ~= id.utf8.count
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        guard isID else {
            let message = "A message's id is 1 to \(maxMessageIDLength) characters of A-Z a-z 0-9 _ - ."
            throw APIError(.invalidRequest, message, field: "message_id")
        }
        return id
    }

    /// The content that a repetition must have as well, as input of ``AccountKeys/fingerprints(of:)``.
    var fingerprintMessage: String { "chat_message:\(isSensitive ? "sensitive" : "plain"):\(text.map { "=" + $0 } ?? "")" }

    /// The beginning of the text that a push may show; nil for a sensitive or empty message.
    var preview: String? {
        guard !isSensitive, let text else { return nil }
        var preview = text.prefix(Self.previewCharacters)
        while preview.utf8.count > Self.maxPreviewBytes { preview.removeLast() }
        return preview.isEmpty ? nil : String(preview)
    }
}

/// The push that announces a message to the other members.
struct ChatPush: Sendable {
    let message: ChatMessage
    let notificationID: UUID
    /// The sender's name and the beginning of the text: neither a stream nor a table contains them in plain text.
    private let senderName, text: SealedText?

    /// Prepares the push of a message.
    ///
    /// - Parameter senderName: nil when the sender has set none.
    init(_ message: ChatMessage, senderName: String?, keys: AccountKeys) throws(CryptoError) {
        self.message = message
        notificationID = UUIDv7.generate()
        self.senderName = try keys.sealedForPush(senderName, .chatSenderName, of: notificationID)
        text = try keys.sealedForPush(message.preview, .chatPreview, of: notificationID)
    }

    /// The event to publish when the message is posted.
    func request(_ posted: ConversationMessage, memberCount: Int) -> NotificationRequested {
        ChatMessagePush(
            conversation: message.conversation, topicID: posted.topicID, messageID: posted.messageID, senderID: posted.senderID,
            senderName: senderName, text: text
        ).request(notificationID, postedAt: posted.createdAt, memberCount: memberCount)
    }
}
