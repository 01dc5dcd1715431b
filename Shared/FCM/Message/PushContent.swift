internal import HeliographCrypto

/// What a push says: the kinds the apps in the field know, with what each of them needs.
public enum PushContent: Sendable, Equatable {
    /// A picture is ready.
    case jobCompleted(jobID: String, templateName: String, thumbnailURL: String?)
    /// A picture could not be made; the reason is written for users.
    case jobFailed(jobID: String, reason: String)
    /// A face was enrolled, or was not.
    case signUp(sessionID: String, userID: String, succeeded: Bool)
    /// A face was recognised, or was not.
    case signIn(sessionID: String, userID: String, succeeded: Bool)
    /// An event has new photos.
    case newPhotos(eventID: String, imageURL: String?)
    /// Somebody wrote; a sensitive text is not shown.
    case chatMessage(
        conversationID: String, messageID: String?, senderID: String, senderName: String, text: String, isSensitive: Bool)
    /// The owner of a topic, such as `event:42`, has invited the user. Nothing that the owner wrote is shown.
    case invitation(topic: String)

    /// What a later push about the same thing replaces; it has no length limit yet.
    var subject: String {
        switch self {
        case .jobCompleted(let jobID, _, _), .jobFailed(let jobID, _): "job:\(jobID)"
        case .signUp(let sessionID, _, _), .signIn(let sessionID, _, _): "ekyc:\(sessionID)"
        case .newPhotos(let eventID, _): "event:\(eventID)"
        case .chatMessage(let conversationID, let messageID, _, _, _, _):
            // Senders choose the ids of messages, each for one conversation. With 48 bytes of them it is just short enough for Apple, and
            // an app finds the id between the colons.
            messageID.map { "chat:\($0):\(Self.digest(of: conversationID))" } ?? "conversation:\(conversationID)"
        case .invitation(let topic): "invitation:\(topic)"
        }
    }

    /// The notification channel of Android, one for each kind of push: apps create it by this name, and users silence it.
    var channelID: String {
        switch self {
        case .jobCompleted, .jobFailed: "image_jobs"
        case .signUp, .signIn: "ekyc"
        case .newPhotos: "event_photos"
        case .chatMessage: "chat"
        case .invitation: "invitations"
        }
    }

    /// Ten characters that tell conversations apart.
    private static func digest(of conversationID: String) -> Substring {
        Base64URL.encode(SHA256.hash(conversationID)).prefix(10)
    }
}
