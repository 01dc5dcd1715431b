public import FoundationEssentials
internal import WireFormat

/// An enrolment of a face has succeeded or failed.
public struct SignUpPush: SessionResultPush {
    /// `sign_up`.
    public static var kind: NotificationKind { .signUp }

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

    /// `PushContent.signUp`.
    public var content: PushContent { .signUp(self) }
}
