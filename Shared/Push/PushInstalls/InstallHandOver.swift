public import FoundationEssentials
internal import PostgresClient

/// A user's claim of an installation that another user has, or that no app has registered: a row of `install_hand_overs`.
///
/// It takes effect when the claimant returns the nonce that is pushed to the claimed value. Until then the installation stays as it is.
public struct InstallHandOver: Sendable, Equatable {
    /// The state; a pending one also ends at ``expiresAt``.
    public enum State: String, Sendable, CaseIterable {
        /// The nonce was not returned yet.
        case pending
        /// The installation belongs to the claimant, or did so until a later change.
        case completed
        /// A later claim of the installation by the same user has replaced it.
        case replaced
    }

    /// The id, which the push and the proof name.
    public let id: UUID
    /// The claimed installation; see ``PushInstall/installationKey``.
    public let installationKey: [UInt8]
    /// While it is pending, the row without a user that has the claimed value; then the claimant's row. `nil` if that is deleted.
    public let installID: UUID?
    /// The claimant.
    public let userID: UUID
    /// The user who had the installation when it was claimed.
    public let formerUserID: UUID?
    /// The claimant's sign-in; see `AccessToken.familyID`. `nil` for an identity of another system.
    public let signInID: UUID?
    /// `ios`, `android` or `web`, when the claim says so.
    public let platform: String?
    /// BCP 47 tag, when the claim says so.
    public let locale: String?
    /// The app's own version, when the claim says so.
    public let appVersion: String?
    /// The state.
    public let state: State
    /// When the nonce is no longer accepted.
    public let expiresAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        installationKey = try row.decode("installation_key")
        installID = try row.decode("install_id")
        userID = try row.decode("user_id")
        formerUserID = try row.decode("former_user_id")
        signInID = try row.decode("sign_in_id")
        platform = try row.decode("platform")
        locale = try row.decode("locale")
        appVersion = try row.decode("app_version")
        state = try row.decodeCase("state")
        expiresAt = try row.decode("expires_at")
    }
}

/// A claim to insert.
public struct NewInstallHandOver: Sendable {
    /// The id.
    public var id: UUID
    /// The claimed installation with the claimed value.
    public var registration: PushRegistration
    /// The claimant.
    public var userID: UUID
    /// The claimant's sign-in.
    public var signInID: UUID?
    /// SHA-256 of the nonce; 32 bytes.
    public var nonceHash: [UInt8]

    /// Describes a claim.
    public init(id: UUID = UUID(), registration: PushRegistration, userID: UUID, signInID: UUID?, nonceHash: [UInt8]) {
        self.id = id
        self.registration = registration
        self.userID = userID
        self.signInID = signInID
        self.nonceHash = nonceHash
    }
}

/// Limits on claims: each sends a push that the owner did not ask for if the claim is a stranger's.
public enum InstallHandOverLimits {
    /// The time during which the nonce is accepted: 10 minutes.
    public static let lifetime = Duration.seconds(10 * 60)
    /// The time during which the same claim is a repetition that sends no second push: 30 seconds.
    public static let repetitionTime = Duration.seconds(30)
    /// The time over which the claims of an account are counted, and for which they are kept: one hour.
    public static let window = Duration.seconds(60 * 60)
    /// The most claims of an account within ``window``.
    public static let maxPerUser = 10
    /// The most pending claims of an installation by other accounts. Claims with the present user's value are counted separately, because
    /// only that phone should know the value: a stranger who knows only the installation's id cannot use up their number.
    public static let maxPerInstallation = 5
}
