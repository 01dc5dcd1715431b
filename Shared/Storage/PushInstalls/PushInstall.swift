public import FoundationEssentials
internal import PostgresClient

/// An app installation that can be pushed to: a row of `push_installs`.
public struct PushInstall: Sendable, Equatable {
    /// Whether it can be sent to.
    public enum State: String, Sendable, CaseIterable {
        /// It can.
        case active
        /// FCM said its token is dead; registering again revives it.
        case invalid
    }

    /// The row's id; what events carry.
    public let id: UUID
    /// HMAC of `PushTarget.installationKeyMessage`; 32 bytes.
    public let installationKey: [UInt8]
    /// Whether the value is a token or an installation id.
    public let kind: PushTarget.Kind
    /// The value, sealed with `SealingContext.pushInstall`.
    public let valueSealed: [UInt8]
    /// The user signed in on it, at most one.
    public let userID: UUID?
    /// Grows when the value changes or the installation passes from one user to another.
    public let generation: Int64
    /// `ios`, `android` or `web`, when known.
    public let platform: String?
    /// BCP 47 tag, when known.
    public let locale: String?
    /// The app's own version, when known.
    public let appVersion: String?
    /// Whether it can be sent to.
    public let state: State
    /// When its present value was registered.
    public let registeredAt: Date
    /// When it last registered, to the day.
    public let lastSeenAt: Date
    /// When FCM called it dead.
    public let invalidAt: Date?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        installationKey = try row.decode("installation_key")
        kind = try row.decodeCase("kind")
        valueSealed = try row.decode("value_sealed")
        userID = try row.decode("user_id")
        generation = try row.decode("generation")
        platform = try row.decode("platform")
        locale = try row.decode("locale")
        appVersion = try row.decode("app_version")
        state = try row.decodeCase("state")
        registeredAt = try row.decode("registered_at")
        lastSeenAt = try row.decode("last_seen_at")
        invalidAt = try row.decode("invalid_at")
    }
}

/// An installation as it registers: what `PushInstallRepository.upsertSeen` writes.
public struct PushRegistration: Sendable {
    /// HMAC of `PushTarget.installationKeyMessage`; 32 bytes.
    public var installationKey: [UInt8]
    /// Whether the value is a token or an installation id.
    public var kind: PushTarget.Kind
    /// The value, sealed with `SealingContext.pushInstall`.
    public var valueSealed: [UInt8]
    /// HMAC of `PushTarget.valueHashMessage`; 32 bytes.
    public var valueHash: [UInt8]
    /// When the app sent it. An older registration never replaces a newer one, nor revives a token that died since.
    public var seenAt: Date
    /// `ios`, `android` or `web`, when known.
    public var platform: String?
    /// BCP 47 tag, when known.
    public var locale: String?
    /// The app's own version, when known.
    public var appVersion: String?

    /// Describes a registration.
    public init(
        installationKey: [UInt8], kind: PushTarget.Kind, valueSealed: [UInt8], valueHash: [UInt8],
        seenAt: Date = Date(), platform: String? = nil, locale: String? = nil, appVersion: String? = nil
    ) {
        self.installationKey = installationKey
        self.kind = kind
        self.valueSealed = valueSealed
        self.valueHash = valueHash
        self.seenAt = seenAt
        self.platform = platform
        self.locale = locale
        self.appVersion = appVersion
    }
}

/// An installation FCM called dead.
public struct DeadInstall: Sendable {
    /// The installation.
    public var id: UUID
    /// The generation that was sent to; a newer one is left alone.
    public var generation: Int64
    /// FCM's error code.
    public var code: String

    /// Describes a dead installation.
    public init(id: UUID, generation: Int64, code: String) {
        self.id = id
        self.generation = generation
        self.code = code
    }
}
