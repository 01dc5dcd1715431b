/// The kind of a notification; each kind has its own title, body and data.
public enum NotificationKind: String, BodyWord {
    case jobCompleted = "job_completed"
    case jobFailed = "job_failed"
    case signUp = "sign_up"
    case signIn = "sign_in"
    case newPhotos = "new_photos"
    case chatMessage = "chat_message"
    case invitation
    case accountAlert = "account_alert"
    /// A push without a visible notification: asks an app to prove that it receives the pushes to its installation.
    case possessionCheck = "possession_check"
    /// A notification of an app's own server, which gives it a kind of its own (``AppContent/kind``).
    case custom

    /// Whether it reports the result of a sign-up or sign-in.
    public var isOfSession: Bool {
        switch self {
        case .signUp, .signIn: true
        case .jobCompleted, .jobFailed, .newPhotos, .chatMessage, .invitation, .accountAlert, .possessionCheck, .custom: false
        }
    }
}
