internal import HeliographCrypto
public import WireFormat

/// The content of a push: the kinds that released apps know, with the parameters of each.
public enum PushContent: Sendable, Equatable {
    /// A picture is ready.
    case jobCompleted(jobID: String, templateName: String, thumbnailURL: String?)
    /// A picture could not be made; users see the reason.
    case jobFailed(jobID: String, reason: String)
    /// An enrolment of a face has succeeded or failed.
    case signUp(sessionID: String, userID: String, succeeded: Bool)
    /// A recognition of a face has succeeded or failed.
    case signIn(sessionID: String, userID: String, succeeded: Bool)
    /// An event has new photos.
    case newPhotos(eventID: String, imageURL: String?)
    /// A chat message was sent; a sensitive text is not shown.
    case chatMessage(
        conversationID: String, messageID: String?, senderID: String, senderName: String, text: String, isSensitive: Bool)
    /// The owner of a topic, such as `event:42`, has invited the user. No text by the owner is shown.
    case invitation(topic: String)
    /// The user's account was changed, or used on another device.
    case accountAlert(userID: String, alert: AccountAlert)
    /// A push without a visible notification: the app returns the nonce, and so proves that it receives the pushes to its installation.
    case possessionCheck(handOverID: String, nonce: String)
    /// The content from an app's own server.
    case custom(AppContent, notificationID: String)

    /// The `kind` of the data, which tells pushes apart: the kind of the notification, or the one that the app's own server gave.
    var kind: String {
        switch self {
        case .jobCompleted: NotificationKind.jobCompleted.rawValue
        case .jobFailed: NotificationKind.jobFailed.rawValue
        case .signUp: NotificationKind.signUp.rawValue
        case .signIn: NotificationKind.signIn.rawValue
        case .newPhotos: NotificationKind.newPhotos.rawValue
        case .chatMessage: NotificationKind.chatMessage.rawValue
        case .invitation: NotificationKind.invitation.rawValue
        case .accountAlert: NotificationKind.accountAlert.rawValue
        case .possessionCheck: NotificationKind.possessionCheck.rawValue
        case .custom(let content, _): content.kind
        }
    }

    /// The subject: a later push with the same subject replaces this one. Its length is not limited yet.
    var subject: String {
        switch self {
        case .jobCompleted(let jobID, _, _), .jobFailed(let jobID, _): "job:\(jobID)"
        case .signUp(let sessionID, _, _), .signIn(let sessionID, _, _): "ekyc:\(sessionID)"
        case .newPhotos(let eventID, _): "event:\(eventID)"
        case .chatMessage(let conversationID, let messageID, _, _, _, _):
            // Senders choose message ids, which are unique within a conversation. With an id of 48 bytes the subject just fits
            // Apple's 64 bytes, and an app finds the id between the colons.
            messageID.map { "chat:\($0):\(Self.digest(of: conversationID))" } ?? "conversation:\(conversationID)"
        case .invitation(let topic): "invitation:\(topic)"
        case .accountAlert(let userID, let alert): "account:\(userID):\(alert.rawValue)"
        case .possessionCheck(let handOverID, _): "possession:\(handOverID)"
        case .custom(let content, let notificationID): "app:\(content.collapseKey ?? notificationID)"
        }
    }

    /// Android's notification channel, one for each kind of push: apps create it by this name, and users can silence it. Nil for a push
    /// without a visible notification.
    var channelID: String? {
        switch self {
        case .jobCompleted, .jobFailed: "image_jobs"
        case .signUp, .signIn: "ekyc"
        case .newPhotos: "event_photos"
        case .chatMessage: "chat"
        case .invitation: "invitations"
        case .accountAlert: "account"
        case .possessionCheck: nil
        case .custom(let content, _): content.kind
        }
    }

    /// Returns ten characters of the hash of a conversation id.
    private static func digest(of conversationID: String) -> Substring {
        Base64URL.encode(SHA256.hash(conversationID)).prefix(10)
    }
}
