public import FoundationEssentials
internal import PostgresClient

/// A notification that an app's own server has requested: a row of `app_notifications`.
public struct AppNotification: Sendable, Equatable {
    /// The state: `scheduled → requested | cancelled`. What follows a request is the state of the `notifications` row.
    public enum State: String, Sendable, CaseIterable {
        case scheduled, requested, cancelled
    }

    /// The longest time for which a notification waits.
    public static let maxDelay: Duration = .seconds(30 * 24 * 60 * 60)
    /// The longest time for which a notification is worth sending: FCM's longest time to live.
    public static let maxLifetime: Duration = .seconds(28 * 24 * 60 * 60)
    /// The time for which a notification is kept after its expiry: during it, its state can be asked for and a repetition is recognised.
    public static let retention: Duration = .seconds(30 * 24 * 60 * 60)
    /// The most users that one notification names.
    public static let maxRecipients = 1_000

    /// The id, which is also the notification's id in the ledger.
    public let id: UUID
    /// The app.
    public let app: String
    /// The app's kind.
    public let kind: String
    /// HMAC of the request, which a repetition must have too; 32 bytes.
    public let fingerprint: [UInt8]
    /// The state.
    public let state: State
    /// The number of recipients with an account.
    public let accepted: Int
    /// The number of recipients without an account.
    public let unknown: Int
    /// When it was made.
    public let createdAt: Date
    /// When it is due.
    public let notBefore: Date
    /// When it expires.
    public let expiresAt: Date

    /// Whether it was requested without a recipient that exists: then it has ended, skipped by ``SkipReason/noRecipient``. It is a row of
    /// `notifications` only if it was scheduled; a topic may have got members until then.
    public var hasNoRecipient: Bool { state == .requested && accepted == 0 && (unknown > 0 || notBefore <= createdAt) }

    /// The columns that ``init(row:)`` reads.
    static let columns = "id, app, kind, fingerprint, state, accepted, unknown, created_at, not_before, expires_at"

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        app = try row.decode("app")
        kind = try row.decode("kind")
        fingerprint = try row.decode("fingerprint")
        state = try row.decodeCase("state")
        accepted = try row.decode("accepted")
        unknown = try row.decode("unknown")
        createdAt = try row.decode("created_at")
        notBefore = try row.decode("not_before")
        expiresAt = try row.decode("expires_at")
    }
}

/// A notification to store.
public struct NewAppNotification: Sendable {
    /// The id.
    public var id: UUID
    /// The app.
    public var app: String
    /// The credential it was requested with.
    public var credentialID: UUID
    /// The app's kind.
    public var kind: String
    /// The app's name for the cause; nil without a dedupe key.
    public var dedupeKey: String?
    /// HMAC of the request, which a repetition must have too; 32 bytes.
    public var fingerprint: [UInt8]
    /// The users; empty for a topic.
    public var userIDs: [UUID]
    /// The event to publish, as JSON, when it is not due yet; nil when the caller publishes it in the same transaction.
    public var scheduledRequest: [UInt8]?
    /// The HTTP request that made it.
    public var requestID: String?
    /// The trace it belongs to.
    public var traceparent: String?
    /// When it is due.
    public var notBefore: Date
    /// When it expires.
    public var expiresAt: Date

    /// Describes a notification.
    public init(
        id: UUID, app: String, credentialID: UUID, kind: String, dedupeKey: String?, fingerprint: [UInt8], userIDs: [UUID],
        scheduledRequest: [UInt8]?, requestID: String?, traceparent: String?, notBefore: Date, expiresAt: Date
    ) {
        self.id = id
        self.app = app
        self.credentialID = credentialID
        self.kind = kind
        self.dedupeKey = dedupeKey
        self.fingerprint = fingerprint
        self.userIDs = userIDs
        self.scheduledRequest = scheduledRequest
        self.requestID = requestID
        self.traceparent = traceparent
        self.notBefore = notBefore
        self.expiresAt = expiresAt
    }
}

/// A notification that has become due.
public struct DueAppNotification: Sendable, Equatable {
    /// The event to publish, as JSON.
    public let request: [UInt8]
    /// The HTTP request that made it.
    public let requestID: String?
    /// The trace it belongs to.
    public let traceparent: String?
    /// When it expires.
    public let expiresAt: Date
}

/// The numbers of a notification's pushes by their state.
public struct AppNotificationCounts: Sendable, Equatable {
    /// The state of its row in the ledger; nil while token-registry has not seen it.
    public var state: NotificationRecord.State?
    /// Why it reached no phone; nil otherwise.
    public var skipReason: String?
    /// The pushes: one for each installation.
    public var requested = 0
    /// The pushes without a final state.
    public var pending = 0
    /// The pushes that FCM accepted.
    public var accepted = 0
    /// The pushes that were not sent: suppressed or expired.
    public var skipped = 0
    /// The pushes that FCM refused, dead tokens included.
    public var failed = 0
    /// Receipts of phones by their event.
    public var receipts: [Receipt.Event: Int] = [:]

    /// Makes zeros.
    public init() {}
}
