/// The lane, and so the stream, in which a session waits for the face engine: uploads of one sender must not delay those of others.
public enum EkycLane: String, BodyWord {
    /// Any session that is not ``known`` and not ``bulk``.
    case new
    /// The session's installation has signed in during the last 30 days; its photos are examined first.
    case known
    /// The session's address has used more than its share of the workers' time; its photos are examined last.
    case bulk
}
