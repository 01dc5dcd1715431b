public import FoundationEssentials
public import JSON
public import WireFormat

/// The result of a sign-up or sign-in by face, pushed to the phone that began it.
public protocol SessionResultPush: PushAboutThing {
    /// The session.
    var sessionID: UUID { get }
    /// The account, or the session's pseudonym when the phone has not proven that it belongs to the account.
    var userID: UUID { get }
    /// Whether it has succeeded.
    var succeeded: Bool { get }

    /// Describes a result.
    init(sessionID: UUID, userID: UUID, succeeded: Bool)
}

extension SessionResultPush {
    /// `ekyc`: a session is a sign-up or a sign-in.
    public static var keyPrefix: String { "ekyc" }
    /// `ekyc`.
    public static var channelID: String? { "ekyc" }
    /// The user watches the session while it is decided.
    public static var hasBadge: Bool { false }
    /// True.
    public static var isSessionResult: Bool { true }
    /// The time during which the result is worth a push, in seconds: later, the app has fetched it.
    private static var lifetime: TimeInterval { 60 * 60 }

    /// Makes the request for the push to the phone that began the session. Publish it in the transaction that ends the session.
    public func request() -> NotificationRequested {
        NotificationRequested(
            dedupeKey: Self.dedupeKey(about: sessionID), content: content, recipient: .session(sessionID), lane: .urgent,
            expiresAt: Date(timeIntervalSinceNow: Self.lifetime))
    }

    /// The session.
    public var subject: String? { "ekyc:\(sessionID.wireString)" }
    /// The account, or the pseudonym.
    public var references: PushReferences { PushReferences(accountID: userID) }

    /// Reads `session_id`, `success` and `user_id`.
    public init(from body: BodyReader) throws(BodyFault) {
        let (sessionID, userID): (UUID, UUID) = (try body.read("session_id"), try body.read("user_id"))
        self.init(sessionID: sessionID, userID: userID, succeeded: try body.read("success"))
    }

    /// Writes `session_id`, `success` and `user_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("session_id", sessionID)
        body.member("success", succeeded)
        body.member("user_id", userID)
    }
}
