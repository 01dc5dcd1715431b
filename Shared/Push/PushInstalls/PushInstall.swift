public import FoundationEssentials
internal import PostgresClient

/// An app installation that can be pushed to: a row of `push_installs`.
public struct PushInstall: Sendable, Equatable {
    /// The state; registering again makes every other state active.
    public enum State: String, Sendable, CaseIterable {
        /// Pushes are sent.
        case active
        /// The installation has not registered for ``PushInstallLimits/staleAge``: bulk pushes are not sent to it, others are.
        case stale
        /// FCM reported its token as dead while the guard was tripped. Nothing is sent until ``suspectUntil``, and the next push
        /// after that decides.
        case suspect
        /// FCM reported its token as dead.
        case invalid
    }

    /// The row's id; what events carry.
    public let id: UUID
    /// `PushTarget.installationKey`; 32 bytes.
    public let installationKey: [UInt8]
    /// Whether the value is a token or an installation id.
    public let kind: PushTarget.Kind
    /// The value, sealed with ``sealingContext(installationKey:)``.
    public let valueSealed: [UInt8]
    /// `PushTarget.valueHash`; 32 bytes.
    public let valueHash: [UInt8]
    /// The user signed in on it; at most one.
    public let userID: UUID?
    /// Increases when the value changes or the installation passes from one user to another.
    public let generation: Int64
    /// `ios`, `android` or `web`, when known.
    public let platform: String?
    /// BCP 47 tag, when known.
    public let locale: String?
    /// The app's own version, when known.
    public let appVersion: String?
    /// The state.
    public let state: State
    /// When its current value was registered.
    public let registeredAt: Date
    /// When it last registered, to the day.
    public let lastSeenAt: Date
    /// The time until which nothing is sent to a suspect installation; `nil` in other states.
    public let suspectUntil: Date?
    /// When FCM reported its token as dead.
    public let invalidAt: Date?

    /// The additional authenticated data of ``valueSealed``: a value copied into the row of another installation does not open there.
    public static func sealingContext(installationKey: [UInt8]) -> [UInt8] { sealingPrefix + installationKey }

    private static let sealingPrefix = Array("push_install:".utf8)

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

/// Limits on the number of installations and on the time they are kept.
public enum PushInstallLimits {
    /// The most installations of a user; beyond it, dead ones and then those not seen for longest are deleted.
    public static let maxPerUser = 20
    /// The interval at which a registration that changes nothing is written.
    public static let seenInterval = Duration.seconds(24 * 60 * 60)
    /// The time without a registration after which an installation is stale: FCM recommends a month.
    public static let staleAge = Duration.seconds(35 * 24 * 60 * 60)
    /// The time without a registration after which an installation is deleted: FCM's tokens of idle devices expire then.
    public static let idleAge = Duration.seconds(270 * 24 * 60 * 60)
    /// The time for which an installation is kept after FCM reported it as dead.
    public static let invalidAge = Duration.seconds(30 * 24 * 60 * 60)
    /// The minimum time for which an installation without a user is kept, waiting for a sign-in to be redeemed. Longer than
    /// ``seenInterval``, because a registration within that interval is not written.
    public static let unboundAge = seenInterval + Duration.seconds(60 * 60)
    /// The time during which nothing is sent to a suspect installation.
    public static let suspectTime = Duration.seconds(60 * 60)
}

/// The result of a registration.
public struct RegisteredInstall: Sendable, Equatable {
    /// The installation after the registration.
    public let install: PushInstall
    /// The deleted installations: the user had too many.
    public let removedIDs: [UUID]
}

/// The data of a registration, for `PushInstallRepository.register`.
public struct PushRegistration: Sendable {
    /// `PushTarget.installationKey`; 32 bytes.
    public var installationKey: [UInt8]
    /// Whether the value is a token or an installation id.
    public var kind: PushTarget.Kind
    /// The value, sealed with ``PushInstall/sealingContext(installationKey:)``.
    public var valueSealed: [UInt8]
    /// `PushTarget.valueHash`; 32 bytes.
    public var valueHash: [UInt8]
    /// When the app sent it. An older registration does not replace a newer one, and does not revive a token that died since.
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

/// An installation that FCM reported as dead.
public struct DeadInstall: Sendable {
    /// The installation.
    public var id: UUID
    /// The generation that the push was sent to; a newer one is left alone.
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
