public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// Something somebody is told: a row of `notifications`.
public struct NotificationRecord: Sendable, Equatable {
    /// Where a notification is: `requested → addressed → settled`, or `requested → skipped`.
    public enum State: String, Sendable, CaseIterable {
        case requested, addressed, settled, skipped
    }

    /// The id; what events carry.
    public let id: UUID
    /// Stable per subject: a second request with it changes nothing.
    public let dedupeKey: String
    /// What it is about.
    public let kind: NotificationKind
    /// Whom it is for.
    public let recipient: NotificationRecipient
    /// How urgent it is.
    public let lane: Lane
    /// What the text is rendered from; empty once it has ended.
    public let parameters: [String: String]
    /// Where it is.
    public let state: State
    /// Why it was skipped; `nil` otherwise.
    public let skipReason: String?
    /// When it was requested.
    public let createdAt: Date
    /// When it is no longer worth telling.
    public let expiresAt: Date
    /// When it ended.
    public let settledAt: Date?

    /// What a query selects for `init(row:)`; `parameters` as text, because JSON is decoded from text.
    static let columns = """
        id, dedupe_key, kind, recipient_type, recipient_id, lane, parameters::text AS parameters, state, skip_reason, \
        created_at, expires_at, settled_at
        """

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        dedupeKey = try row.decode("dedupe_key")
        kind = try row.decodeCase("kind")
        recipient = NotificationRecipient(
            type: try row.decodeCase("recipient_type"), id: try row.decode("recipient_id"))
        lane = try row.decodeCase("lane")
        parameters = try row.decodeJSON("parameters")
        state = try row.decodeCase("state")
        skipReason = try row.decode("skip_reason")
        createdAt = try row.decode("created_at")
        expiresAt = try row.decode("expires_at")
        settledAt = try row.decode("settled_at")
    }
}

/// A notification to insert; it starts as `requested`.
public struct NewNotification: Sendable {
    /// The id.
    public var id: UUID
    /// Stable per subject; at most 200 characters.
    public var dedupeKey: String
    /// What it is about.
    public var kind: NotificationKind
    /// Whom it is for.
    public var recipient: NotificationRecipient
    /// How urgent it is.
    public var lane: Lane
    /// What the text is rendered from.
    public var parameters: [String: String]
    /// The request that led to it.
    public var requestID: String?
    /// The trace it belongs to.
    public var traceparent: String?
    /// When it is no longer worth telling.
    public var expiresAt: Date

    /// Describes a notification.
    public init(
        id: UUID, dedupeKey: String, kind: NotificationKind, recipient: NotificationRecipient, lane: Lane,
        parameters: [String: String], requestID: String? = nil, traceparent: String? = nil, expiresAt: Date
    ) {
        self.id = id
        self.dedupeKey = dedupeKey
        self.kind = kind
        self.recipient = recipient
        self.lane = lane
        self.parameters = parameters
        self.requestID = requestID
        self.traceparent = traceparent
        self.expiresAt = expiresAt
    }
}
