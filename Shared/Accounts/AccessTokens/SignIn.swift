public import FoundationEssentials
internal import PostgresClient

/// A device that is signed in to an account: a family of `access_tokens` with a valid pair.
public struct SignIn: Sendable, Equatable {
    /// The family; see ``AccessToken/familyID``.
    public let id: UUID
    /// When the device signed in.
    public let createdAt: Date
    /// When its newest pair was minted: by the sign-in, or by the last refresh. The device used the account then, and maybe since: an
    /// access token may be used for an hour before the next refresh.
    public let lastUsedAt: Date
    /// When it ends unless it is refreshed before.
    public let expiresAt: Date
    /// The device's installation, as in ``PushInstall/installationKey``.
    public let installationKey: [UInt8]?
    /// Where the app says that the device's key is; `nil` for a sign-in without a key.
    public let deviceKeyStorage: DeviceKeyStorage?
    /// The details that the device's app has registered; all `nil` when it has not registered since the sign-in.
    public let platform: String?
    /// The app's own version, as the app wrote it.
    public let appVersion: String?
    /// The language of the app as a BCP 47 tag.
    public let locale: String?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("family_id")
        createdAt = try row.decode("signed_in_at")
        lastUsedAt = try row.decode("created_at")
        expiresAt = try row.decode("refresh_expires_at")
        installationKey = try row.decode("installation_key")
        deviceKeyStorage = try row.decodeCaseIfPresent("device_key_storage")
        platform = try row.decode("platform")
        appVersion = try row.decode("app_version")
        locale = try row.decode("locale")
    }
}

/// What ending sign-ins did.
public struct EndedSignIns: Sendable, Equatable {
    /// The sign-ins that were ended.
    public var ids: [UUID]
    /// The installations that were unregistered, by `push_installs.id`.
    public var removedInstalls: [UUID]

    /// Describes ended sign-ins.
    public init(ids: [UUID] = [], removedInstalls: [UUID] = []) {
        self.ids = ids
        self.removedInstalls = removedInstalls
    }
}
