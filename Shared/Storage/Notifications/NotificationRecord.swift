public import FoundationEssentials
internal import PostgresClient
public import WireFormat

/// A notification for a recipient: a row of `notifications`.
public struct NotificationRecord: Sendable, Equatable {
    /// The state of a notification: `requested → addressed → settled`, or `requested → skipped`.
    public enum State: String, Sendable, CaseIterable {
        case requested, addressed, settled, skipped
    }

    /// The id, as in events.
    public let id: UUID
    /// The dedupe key of the subject: a second request with the same key changes nothing.
    public let dedupeKey: String
    /// The kind.
    public let kind: NotificationKind
    /// The recipient.
    public let recipient: NotificationRecipient
    /// The lane.
    public let lane: Lane
    /// The parameters of the text; empty in a final state.
    public let parameters: [String: String]
    /// The state.
    public let state: State
    /// Why it was skipped; `nil` otherwise.
    public let skipReason: String?
    /// When it was requested.
    public let createdAt: Date
    /// When it expires.
    public let expiresAt: Date
    /// When it was settled or skipped.
    public let settledAt: Date?

    /// The columns that `init(row:)` reads; `parameters` as text, because JSON is decoded from text.
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
    /// The dedupe key of the subject; at most 200 characters.
    public var dedupeKey: String
    /// The kind.
    public var kind: NotificationKind
    /// The recipient.
    public var recipient: NotificationRecipient
    /// The lane.
    public var lane: Lane
    /// The parameters of the text.
    public var parameters: [String: String]
    /// The request that led to it.
    public var requestID: String?
    /// The trace it belongs to.
    public var traceparent: String?
    /// When it expires.
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
