public import FoundationEssentials
internal import PostgresClient

/// A minted pair of access and refresh token: a row of `access_tokens`.
public struct AccessToken: Sendable, Equatable {
    /// The row's id.
    public let id: UUID
    /// The user.
    public let userID: UUID
    /// The sign-in it came from.
    public let sessionID: UUID
    /// The sign-in and every refresh that followed; revoked as one.
    public let familyID: UUID
    /// The device it was minted for, as in `PushInstall.installationKey`.
    public let installationKey: [UInt8]?
    /// The key without which the pair is not refreshed; `nil` for a sign-in without a key.
    public let deviceKey: DeviceKey?
    /// Whether the sign-in was moved from one installation to another.
    public let isMoved: Bool
    /// When the audit log last recorded that a token of the sign-in came with another key; `nil` if none did.
    public let otherKeyAt: Date?
    /// When the device signed in: the time of the family's first pair.
    public let signedInAt: Date
    /// When it was minted.
    public let createdAt: Date
    /// When the access token expires.
    public let expiresAt: Date
    /// When the refresh token expires.
    public let refreshExpiresAt: Date

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        userID = try row.decode("user_id")
        sessionID = try row.decode("session_id")
        familyID = try row.decode("family_id")
        installationKey = try row.decode("installation_key")
        deviceKey = try DeviceKey(row: row)
        isMoved = try row.decode("is_moved")
        otherKeyAt = try row.decode("other_key_at")
        signedInAt = try row.decode("signed_in_at")
        createdAt = try row.decode("created_at")
        expiresAt = try row.decode("expires_at")
        refreshExpiresAt = try row.decode("refresh_expires_at")
    }
}

extension DeviceKey {
    /// Reads the columns of a row that may have no key.
    fileprivate init?(row: PostgresRow) throws(PostgresError) {
        guard let thumbprint = try row.decode("device_key", as: [UInt8]?.self),
            let storage: DeviceKeyStorage = try row.decodeCaseIfPresent("device_key_storage")
        else { return nil }
        self.init(thumbprint: thumbprint, storage: storage)
    }
}

/// The lifetimes of a sign-in's tokens: `access` and `idle` count from the minting of the pair, `total` from the sign-in.
public struct SignInLifetimes: Sendable, Equatable {
    /// The lifetime of an access token: 1 hour.
    public var access: Duration
    /// The lifetime of a refresh token, and so the longest pause between two refreshes; at least that of an access token: 30 days.
    public var idle: Duration
    /// The lifetime of a sign-in, which no refresh extends: 90 days.
    public var total: Duration

    /// Describes lifetimes.
    public init(
        access: Duration = .seconds(60 * 60), idle: Duration = .seconds(30 * 86_400), total: Duration = .seconds(90 * 86_400)
    ) {
        self.access = access
        self.idle = idle
        self.total = total
    }
}

/// A pair to insert.
public struct NewAccessToken: Sendable {
    /// The row's id.
    public var id: UUID
    /// The user.
    public var userID: UUID
    /// The sign-in it came from.
    public var sessionID: UUID
    /// The family; a new one for a sign-in.
    public var familyID: UUID
    /// SHA-256 of the access token; 32 bytes.
    public var accessHash: [UInt8]
    /// SHA-256 of the refresh token; 32 bytes.
    public var refreshHash: [UInt8]
    /// The device it is for.
    public var installationKey: [UInt8]?
    /// The key that the sign-in is bound to; `nil` without one.
    public var deviceKey: DeviceKey?
    /// See ``AccessToken/isMoved``.
    public var isMoved = false
    /// See ``AccessToken/otherKeyAt``.
    public var otherKeyAt: Date?
    /// The lifetimes of the tokens and of the sign-in.
    public var lifetimes: SignInLifetimes
    /// When the device signed in; `nil` for a pair that begins a family: now.
    public var signedInAt: Date?

    /// Describes a pair that is being minted.
    public init(
        id: UUID = UUID(), userID: UUID, sessionID: UUID, familyID: UUID = UUID(), accessHash: [UInt8],
        refreshHash: [UInt8], installationKey: [UInt8]?, deviceKey: DeviceKey? = nil, lifetimes: SignInLifetimes, signedInAt: Date? = nil
    ) {
        self.id = id
        self.userID = userID
        self.sessionID = sessionID
        self.familyID = familyID
        self.accessHash = accessHash
        self.refreshHash = refreshHash
        self.installationKey = installationKey
        self.deviceKey = deviceKey
        self.lifetimes = lifetimes
        self.signedInAt = signedInAt
    }
}
