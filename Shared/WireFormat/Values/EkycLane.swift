/// Which stream a session waits in for the face engine, so that uploads of strangers do not delay people who use the app.
public enum EkycLane: String, Sendable, Codable, CaseIterable {
    /// Any session that is not ``known``.
    case new
    /// The session's installation has signed in during the last 30 days; its photos are examined first.
    case known
}
