public import FoundationEssentials
public import JSON
public import WireFormat

/// A sign-in on a device that is new to the account waits for a mailed code, or for its confirmation on a device with a key.
///
/// It names the session, and not the reference that the new device shows: the person types it, so that a blind tap confirms nothing.
public struct SignInConfirmationPush: PushAboutThing {
    /// `sign_in_confirmation`.
    public static var kind: NotificationKind { .signInConfirmation }
    /// `confirmation`.
    public static var keyPrefix: String { "confirmation" }
    /// `account`.
    public static var channelID: String? { "account" }
    /// A stranger must not be able to change the number on a phone's icon.
    public static var hasBadge: Bool { false }
    /// The sign-in may be decided before the push is sent, and only a device with a key can confirm it.
    public static var condition: PushCondition? { .signInConfirmable }

    /// The session of the sign-in.
    public var sessionID: UUID
    /// The account.
    public var userID: UUID

    /// Describes a sign-in that waits.
    public init(sessionID: UUID, userID: UUID) {
        self.sessionID = sessionID
        self.userID = userID
    }

    /// Makes the request for the push. Publish it in the transaction that publishes the mail with the code.
    ///
    /// - Parameter expiresAt: The end of the code, with which the time to confirm ends.
    public func request(expiresAt: Date) -> NotificationRequested {
        NotificationRequested(
            dedupeKey: Self.dedupeKey(about: sessionID), content: content, recipient: .user(userID), lane: .urgent, expiresAt: expiresAt)
    }

    /// `PushContent.signInConfirmation`.
    public var content: PushContent { .signInConfirmation(self) }
    /// The account: the app lists all sign-ins that wait, so one push on the phone is enough.
    public var subject: String? { "confirmation:\(userID.wireString)" }
    /// The account and the session.
    public var references: PushReferences { PushReferences(accountID: userID, sessionID: sessionID) }

    /// Reads `session_id` and `user_id`.
    public init(from body: BodyReader) throws(BodyFault) {
        sessionID = try body.read("session_id")
        userID = try body.read("user_id")
    }

    /// Writes `session_id` and `user_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("session_id", sessionID)
        body.member("user_id", userID)
    }
}
