/// The kind of a notification; each kind has its own title, body and data.
public enum NotificationKind: String, Codable, Sendable, CaseIterable {
    case jobCompleted = "job_completed"
    case jobFailed = "job_failed"
    case signUp = "sign_up"
    case signIn = "sign_in"
    case newPhotos = "new_photos"
    case chatMessage = "chat_message"
    case invitation
}
