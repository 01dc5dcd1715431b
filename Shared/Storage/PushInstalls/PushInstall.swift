public import FoundationEssentials
internal import PostgresClient

/// An app installation that can be pushed to: a row of `push_installs`.
public struct PushInstall: Sendable, Equatable {
    /// Whether it can be sent to; registering again makes every other state active.
    public enum State: String, Sendable, CaseIterable {
        /// It can.
        case active
        /// It has not registered for ``PushInstallLimits/staleAge``: what many are told is not sent to it, the rest is.
        case stale
        /// FCM called its token dead at a time when it called too many so; nothing is sent until ``suspectUntil``, and the
        /// next push after that decides.
        case suspect
        /// FCM said its token is dead.
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
    /// HMAC of `PushTarget.valueHashMessage`; 32 bytes.
    public let valueHash: [UInt8]
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
    /// Until when a suspect one is left alone; `nil` in other states.
    public let suspectUntil: Date?
    /// When FCM called it dead.
    public let invalidAt: Date?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        installationKey = try row.decode("installation_key")
        kind = try row.decodeCase("kind")
        valueSealed = try row.decode("value_sealed")
        valueHash = try row.decode("value_hash")
        userID = try row.decode("user_id")
        generation = try row.decode("generation")
        platform = try row.decode("platform")
        locale = try row.decode("locale")
        appVersion = try row.decode("app_version")
        state = try row.decodeCase("state")
        registeredAt = try row.decode("registered_at")
        lastSeenAt = try row.decode("last_seen_at")
        suspectUntil = try row.decode("suspect_until")
        invalidAt = try row.decode("invalid_at")
    }
}

/// How many installations there are, and how long they are kept.
public enum PushInstallLimits {
    /// The most installations of a user; one more, and that which was not seen for the longest time goes.
    public static let perUserMax = 20
    /// How often a registration that changes nothing is written.
    public static let seenInterval = Duration.seconds(24 * 60 * 60)
    /// After this time without a registration an installation is stale: FCM's own advice is a month.
    public static let staleAge = Duration.seconds(35 * 24 * 60 * 60)
    /// After this time without a registration an installation is deleted: FCM's tokens of idle devices end then.
    public static let idleAge = Duration.seconds(270 * 24 * 60 * 60)
    /// How long an installation is kept after FCM called it dead.
    public static let invalidAge = Duration.seconds(30 * 24 * 60 * 60)
    /// How long an installation of nobody is kept, at least; it waits for a sign-in to be exchanged for tokens. More than
    /// ``seenInterval``: a use within that is not written.
    public static let unboundAge = seenInterval + Duration.seconds(60 * 60)
    /// How long a suspect installation is left alone.
    public static let suspectTime = Duration.seconds(60 * 60)
}

/// What a registration did.
public struct RegisteredInstall: Sendable, Equatable {
    /// The installation as it is now.
    public let install: PushInstall
    /// Whether anything was written: worth a `device.registered`.
    public let isChanged: Bool
    /// The installations that had to go, each worth a `device.removed`: the user had too many, or another row held the value.
    public let removedIDs: [UUID]
}

/// An installation as it registers: what `PushInstallRepository.register` writes.
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
    /// Who has proven by face to be the one with the phone; it is not bound to that user by this.
    public var provenUserID: UUID?

    /// Describes a registration.
    public init(
        installationKey: [UInt8], kind: PushTarget.Kind, valueSealed: [UInt8], valueHash: [UInt8],
        seenAt: Date = Date(), platform: String? = nil, locale: String? = nil, appVersion: String? = nil,
        provenUserID: UUID? = nil
    ) {
        self.installationKey = installationKey
        self.kind = kind
        self.valueSealed = valueSealed
        self.valueHash = valueHash
        self.seenAt = seenAt
        self.platform = platform
        self.locale = locale
        self.appVersion = appVersion
        self.provenUserID = provenUserID
    }

    /// Whether an installation has kept a user's value, which this one, that is no older, was not to replace.
    public func isStranger(to install: PushInstall) -> Bool {
        install.userID != nil && install.userID != provenUserID && install.valueHash != valueHash
            && install.registeredAt <= seenAt
    }
}

/// An installation FCM called dead.
public struct DeadInstall: Sendable {
    /// The installation.
    public var id: UUID
    /// The generation that was sent to; a newer one is left alone.
    public var generation: Int64
    /// When the push was sent; a value that was registered later is left alone.
    public var sentAt: Date
    /// FCM's error code.
    public var code: String

    /// Describes a dead installation.
    public init(id: UUID, generation: Int64, sentAt: Date = Date(), code: String) {
        self.id = id
        self.generation = generation
        self.sentAt = sentAt
        self.code = code
    }
}
