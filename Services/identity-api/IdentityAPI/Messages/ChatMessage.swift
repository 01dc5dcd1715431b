internal import FoundationEssentials
internal import HeliographCrypto
internal import Storage
internal import WireFormat

/// A message as it arrives, checked.
struct ChatMessage: Sendable {
    /// The most characters of an id: with its prefix it has to fit into what a push is replaced by.
    static let maxMessageIDLength = 48
    /// The most bytes of a text.
    static let maxTextBytes = 16 * 1024
    /// The most characters of a preview; one more than is shown, so that the notifier sees that there is more.
    private static let previewCharacters = 101
    /// The most bytes of a preview, because a character may have any number.
    private static let maxPreviewBytes = 1_024

    let conversation: TopicName
    let messageID: String
    /// What is said; nil when only the members' devices know.
    let text: String?
    /// Whether nothing of it is to be shown on a lock screen.
    let isSensitive: Bool

    /// Reads a message.
    ///
    /// - Throws: `missing_field` or `invalid_request`, which name the field.
    init(_ body: JSONBody, in conversation: TopicName) throws(APIError) {
        self.conversation = conversation
        messageID = try Self.checkedID(try body.requiredText("message_id"))
        isSensitive = try body.bool("sensitive") ?? false
        text = isSensitive ? try body.text("text") : try body.requiredText("text")
        guard (text?.utf8.count ?? 0) <= Self.maxTextBytes else {
            throw APIError(.invalidRequest, "A text has up to \(Self.maxTextBytes / 1_024) KB", field: "text")
        }
    }

    /// Returns the id if it is one.
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

    /// What makes it this message and no other, for ``AccountKeys/authenticated(_:)``.
    var fingerprintMessage: String { "chat_message:\(isSensitive ? "sensitive" : "plain"):\(text.map { "=" + $0 } ?? "")" }

    /// What may be shown of it; nil when that is nothing.
    var preview: String? {
        guard !isSensitive, let text else { return nil }
        var preview = text.prefix(Self.previewCharacters)
        while preview.utf8.count > Self.maxPreviewBytes { preview.removeLast() }
        return preview.isEmpty ? nil : String(preview)
    }
}

/// The push that tells the others of a message.
struct ChatPush: Sendable {
    /// Up to this many members a conversation is one of people who wait for each other.
    static let maxUrgentMembers = 50
    /// After this the conversation has gone on.
    static let lifetime: Duration = .seconds(60 * 60)

    let message: ChatMessage
    let notificationID: UUID
    /// The texts of it, sealed: neither a stream nor a table has what people say to each other.
    let sealedTexts: [String: String]

    /// Prepares the push of a message.
    ///
    /// - Parameter senderName: nil when the sender has set none.
    init(_ message: ChatMessage, senderName: String?, keys: AccountKeys) throws(CryptoError) {
        self.message = message
        notificationID = UUIDv7.generate()
        var texts: [String: String] = [:]
        if let preview = message.preview {
            let sealed = try keys.sealed(preview, context: SealingContext.chatPreview(notificationID: notificationID))
            texts[NotificationParameter.textSealed] = Base64URL.encode(sealed)
        }
        if let senderName {
            let sealed = try keys.sealed(senderName, context: SealingContext.chatSenderName(notificationID: notificationID))
            texts[NotificationParameter.senderNameSealed] = Base64URL.encode(sealed)
        }
        sealedTexts = texts
    }

    /// The request that goes out when the message is posted.
    func request(_ posted: ConversationMessage, memberCount: Int) -> NotificationRequested {
        let parameters = [
            "conversation_id": message.conversation.id, "message_id": posted.messageID, "sender_id": posted.senderID.wireString,
            "sensitive": message.isSensitive ? "true" : "false", NotificationParameter.topicID: posted.topicID.wireString,
            NotificationParameter.exceptUserID: posted.senderID.wireString,
        ]
        return NotificationRequested(
            notificationID: notificationID, dedupeKey: "chat:\(posted.topicID.wireString):\(posted.messageID)", kind: .chatMessage,
            recipient: .topic(message.conversation), lane: memberCount <= Self.maxUrgentMembers ? .urgent : .normal,
            parameters: parameters.merging(sealedTexts) { own, _ in own },
            expiresAt: posted.createdAt.addingTimeInterval(Double(Self.lifetime.components.seconds)))
    }
}
