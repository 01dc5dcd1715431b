public import FoundationEssentials
internal import WireFormat

/// A recognition of a face has succeeded or failed.
public struct SignInPush: SessionResultPush {
    /// `sign_in`.
    public static var kind: NotificationKind { .signIn }

    /// The session.
    public var sessionID: UUID
    /// The account, or the session's pseudonym.
    public var userID: UUID
    /// Whether it has succeeded.
    public var succeeded: Bool

    /// Describes a result.
    public init(sessionID: UUID, userID: UUID, succeeded: Bool) {
        self.sessionID = sessionID
        self.userID = userID
        self.succeeded = succeeded
    }

    /// `PushContent.signIn`.
    public var content: PushContent { .signIn(self) }
}
