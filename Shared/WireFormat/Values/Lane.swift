/// The urgency of a notification; each lane has its own stream, so that a bulk mailing delays no sign-in.
public enum Lane: String, BodyWord, Codable {
    /// The user is looking at the screen and waiting.
    case urgent
    case normal
    /// Fan-out to many recipients.
    case bulk
}
