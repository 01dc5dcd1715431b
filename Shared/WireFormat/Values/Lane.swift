/// How soon a notification has to leave; each lane is a stream of its own, so that a bulk mailing delays no sign-in.
public enum Lane: String, Codable, Sendable, CaseIterable {
    /// Somebody looks at the screen and waits.
    case urgent
    case normal
    /// Fan-out to many.
    case bulk
}
