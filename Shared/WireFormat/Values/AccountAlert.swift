public import FoundationEssentials

/// A change to an account about which all devices of its user get a push, because a stranger may have made it.
public enum AccountAlert: String, Sendable, CaseIterable {
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

    /// The time during which it is worth a push, in seconds: 7 days, because a phone may be off for a weekend.
    private static let pushLifetime: TimeInterval = 7 * 24 * 60 * 60

    /// Makes the request for the push. Publish it in the transaction of the change.
    ///
    /// - Parameters:
    ///   - userID: The user, who gets it on all installations.
    ///   - installID: The installation (`push_installs.id`) from which the change was made, which gets no push; `nil` to push to all
    ///     installations.
    ///   - cause: The id of the change, such as the session of a sign-in: the same change is pushed once.
    public func notification(to userID: UUID, except installID: UUID? = nil, cause: UUID) -> NotificationRequested {
        var parameters = ["alert": rawValue, "user_id": userID.wireString]
        parameters[NotificationParameter.exceptInstallID] = installID?.wireString
        return NotificationRequested(
            dedupeKey: "account:\(rawValue):\(cause.wireString)", kind: .accountAlert, recipient: .user(userID), lane: .urgent,
            parameters: parameters, expiresAt: Date(timeIntervalSinceNow: Self.pushLifetime))
    }
}
