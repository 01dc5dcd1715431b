/// Why a notification reaches no installation; stored in `notifications.skip_reason`.
enum SkipReason: String, Sendable {
    /// It was requested for a time that is over.
    case expired
    /// Its session does not exist, or no longer.
    case sessionUnknown = "session_unknown"
    /// Its session has no push token, or its token was wiped.
    case tokenMissing = "token_missing"
    /// The sealed token of its session does not open with the keys of this installation.
    case tokenUnreadable = "token_unreadable"
    /// What the app sent as a token cannot be one.
    case tokenMalformed = "token_malformed"
    /// FCM has called the token dead since the app sent it.
    case tokenDead = "token_dead"
    /// Its user has no active installation.
    case noInstallation = "no_installation"
    /// Its topic has ended, or somebody has taken the name for another one.
    case topicEnded = "topic_ended"
    /// What is kept of its user was erased.
    case userErased = "user_erased"
    /// The kind of recipient is not served, or its id is none.
    case recipientUnsupported = "recipient_unsupported"
}
