public import FoundationEssentials
public import Push
internal import WireFormat

extension PushContent {
    /// The topic of a sample.
    public static let sampleTopicID = UUID(uuid: (1, 149, 243, 160, 27, 44, 125, 62, 143, 64, 81, 98, 115, 132, 149, 166))
    /// The account of a sample.
    public static let sampleUserID = UUID(uuid: (1, 149, 243, 160, 27, 44, 125, 62, 143, 64, 81, 98, 115, 132, 149, 167))

    /// Makes a content of a kind; the bytes of its sealed texts are the texts.
    ///
    /// - Parameters:
    ///   - topic: The name of its topic, if it has one.
    ///   - senderID: The user whose message or photo it shows.
    ///   - text: Each text that users can write.
    ///   - thumbnailKey: The key of its picture; nil for none.
    public static func sample(
        _ kind: NotificationKind, topic: String = "event:42", topicID: UUID = sampleTopicID, senderID: UUID = sampleUserID,
        jobID: UUID = UUID(), text: String = "text", thumbnailKey: String? = nil
    ) -> PushContent {
        sample(kind, topic: topic, topicID: topicID, senderID: senderID, jobID: jobID, text: text, thumbnailKey: thumbnailKey) {
            text, use in
            SealedText(use, bytes: Array(text.utf8))
        }
    }

    /// Makes a content of a kind as ``sample(_:topic:topicID:senderID:jobID:text:thumbnailKey:)`` does.
    ///
    /// - Parameter seal: Seals a text.
    public static func sample(
        _ kind: NotificationKind, topic: String = "event:42", topicID: UUID = sampleTopicID, senderID: UUID = sampleUserID,
        jobID: UUID = UUID(), text: String = "text", thumbnailKey: String? = nil, seal: (String, SealedText.Use) throws -> SealedText
    ) rethrows -> PushContent {
        guard let topic = TopicName(topic) else { preconditionFailure("\(topic) is not the name of a topic") }
        return switch kind {
        case .jobCompleted: JobCompletedPush(jobID: jobID, templateName: text, thumbnailKey: thumbnailKey).content
        case .jobFailed: JobFailedPush(jobID: jobID, reason: text).content
        case .signUp: SignUpPush(sessionID: UUIDv7.generate(), userID: sampleUserID, succeeded: true).content
        case .signIn: SignInPush(sessionID: UUIDv7.generate(), userID: sampleUserID, succeeded: true).content
        case .newPhotos: NewPhotosPush(topic: topic, topicID: topicID, senderID: senderID, thumbnailKey: thumbnailKey).content
        case .chatMessage:
            ChatMessagePush(
                conversation: topic, topicID: topicID, messageID: "m-1", senderID: senderID, senderName: try seal(text, .chatSenderName),
                text: try seal(text, .chatPreview)
            ).content
        case .invitation: InvitationPush(topic: topic, topicID: topicID).content
        case .accountAlert: AccountAlertPush(.newSignIn, of: sampleUserID).content
        case .signInConfirmation: SignInConfirmationPush(sessionID: UUIDv7.generate(), userID: sampleUserID).content
        case .possessionCheck: PossessionCheckPush(handOverID: UUID(), nonce: try seal("nonce", .possessionNonce)).content
        case .custom:
            CustomPush(app: try seal(json(kind: "news", text), .appContent), topicID: nil, hasPicture: thumbnailKey != nil).content
        }
    }

    private static func json(kind: String, _ text: String) -> String {
        let json = try? JSONEncoder().encode(AppContent(kind: kind, title: text, body: text))
        return String(decoding: json ?? Data(), as: UTF8.self)
    }
}
