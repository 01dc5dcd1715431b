public import FoundationEssentials
public import JSON
public import WireFormat

/// A change to an account about which all devices of its user get a push, because a stranger may have made it.
public enum AccountAlert: String, BodyWord {
    /// A sign-in on an installation that was not known to the account.
    case newSignIn = "new_sign_in"
    /// The face of the account was replaced.
    case faceChanged = "face_changed"
    /// The recovery of the account was started; it takes effect after a delay.
    case recoveryStarted = "recovery_started"
    /// The recovery of the account was cancelled.
    case recoveryCancelled = "recovery_cancelled"
    /// The recovery of the account has taken effect.
    case recoveryCompleted = "recovery_completed"
    /// The e-mail of the account was changed.
    case emailChanged = "email_changed"
}

/// The user's account was changed, or used on another device.
public struct AccountAlertPush: PushKind {
    /// `account_alert`.
    public static var kind: NotificationKind { .accountAlert }
    /// `account`.
    public static var channelID: String? { "account" }
    /// The app has no place where it would be seen.
    public static var hasBadge: Bool { false }
    /// The time during which it is worth a push, in seconds: 7 days, because a phone may be off for a weekend.
    private static let lifetime: TimeInterval = 7 * 24 * 60 * 60

    /// The change.
    public var alert: AccountAlert
    /// The account.
    public var userID: UUID

    /// Describes a change to an account.
    public init(_ alert: AccountAlert, of userID: UUID) {
        self.alert = alert
        self.userID = userID
    }

    /// Makes the request for the push. Publish it in the transaction of the change.
    ///
    /// - Parameters:
    ///   - installID: The installation (`push_installs.id`) from which the change was made, which gets no push; nil to push to all
    ///     installations.
    ///   - cause: The id of the change, such as the session of a sign-in: the same change is pushed once.
    public func request(except installID: UUID? = nil, cause: UUID) -> NotificationRequested {
        NotificationRequested(
            dedupeKey: "account:\(alert.rawValue):\(cause.wireString)", content: content, recipient: .user(userID), lane: .urgent,
            exceptInstallID: installID, expiresAt: Date(timeIntervalSinceNow: Self.lifetime))
    }

    /// `PushContent.accountAlert`.
    public var content: PushContent { .accountAlert(self) }
    /// The change of the account.
    public var subject: String? { "account:\(userID.wireString):\(alert.rawValue)" }
    /// The account.
    public var references: PushReferences { PushReferences(accountID: userID) }

    /// Reads `alert` and `user_id`.
    public init(from body: BodyReader) throws(BodyFault) {
        alert = try body.read("alert")
        userID = try body.read("user_id")
    }

    /// Writes `alert` and `user_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("alert", alert)
        body.member("user_id", userID)
    }
}
