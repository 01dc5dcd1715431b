/// The result of the check of a session for a live person; shown by the session's status only, never in a push.
public enum Liveness: String, Sendable, CaseIterable {
    /// No check was made: the session has no challenge, or is not decided, or ended before the check.
    case notPerformed = "not_performed"
    case passed
    case failed
}
