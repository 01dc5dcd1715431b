/// The lane, and so the stream, in which a session waits for the face engine: uploads of unknown installations must not delay
/// known ones.
public enum EkycLane: String, BodyWord {
    /// Any session that is not ``known``.
    case new
    /// The session's installation has signed in during the last 30 days; its photos are examined first.
    case known
}
