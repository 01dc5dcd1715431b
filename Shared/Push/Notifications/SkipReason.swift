/// The reason why a notification reaches no installation; stored in `notifications.skip_reason`.
public enum SkipReason: String, Sendable, CaseIterable {
    /// It has expired before it was addressed.
    case expired
    /// Its session does not exist, or no longer exists.
    case sessionUnknown = "session_unknown"
    /// The installation of its session is deleted, or the session came from a phone without a token.
    case tokenMissing = "token_missing"
    /// FCM has reported the token as dead since the app sent it.
    case tokenDead = "token_dead"
    /// Its user has no active installation.
    case noInstallation = "no_installation"
    /// None of its users has an account, or its topic has no members.
    case noRecipient = "no_recipient"
    /// Its user has only the phone that caused the notification.
    case ownDevice = "own_device"
    /// All members with a reachable phone block its sender. No answer of the API says so: a block does not show.
    case senderBlocked = "sender_blocked"
    /// Its topic has ended, or its name belongs to a newer topic.
    case topicEnded = "topic_ended"
    /// Its user's data was erased.
    case userErased = "user_erased"
    /// The kind of recipient is not supported, or its id is malformed.
    case recipientUnsupported = "recipient_unsupported"
}
