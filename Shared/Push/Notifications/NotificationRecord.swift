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
    /// The content; nil in a final state, and when it was erased with a user.
    public let content: PushContent?
    /// The topic that it is about.
    public let topicID: UUID?
    /// The user whose text or picture it shows; nil in a final state.
    public let senderID: UUID?
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

    /// The columns that `init(row:)` reads.
    static let columns = """
        id, dedupe_key, kind, recipient_type, recipient_id, lane, content, topic_id, sender_id, state, skip_reason, created_at, \
        expires_at, settled_at
        """

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        dedupeKey = try row.decode("dedupe_key")
        kind = try row.decodeCase("kind")
        recipient = NotificationRecipient(
            type: try row.decodeCase("recipient_type"), id: try row.decode("recipient_id"))
        lane = try row.decodeCase("lane")
        content = try row.decodeContent(of: kind)
        topicID = try row.decode("topic_id")
        senderID = try row.decode("sender_id")
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
    /// The content.
    public var content: PushContent
    /// The recipient.
    public var recipient: NotificationRecipient
    /// The lane.
    public var lane: Lane
    /// The request that led to it.
    public var requestID: String?
    /// The trace it belongs to.
    public var traceparent: String?
    /// When it expires.
    public var expiresAt: Date

    /// Describes a notification.
    public init(
        id: UUID, dedupeKey: String, content: PushContent, recipient: NotificationRecipient, lane: Lane,
        requestID: String? = nil, traceparent: String? = nil, expiresAt: Date
    ) {
        self.id = id
        self.dedupeKey = dedupeKey
        self.content = content
        self.recipient = recipient
        self.lane = lane
        self.requestID = requestID
        self.traceparent = traceparent
        self.expiresAt = expiresAt
    }
}

extension PostgresRow {
    /// Reads the column `content` of a notification; nil when it is erased.
    func decodeContent(of kind: NotificationKind) throws(PostgresError) -> PushContent? {
        guard let json = try decode("content", as: [UInt8]?.self) else { return nil }
        do throws(WireFormatError) {
            return try PushContent(kind, decoding: json)
        } catch {
            throw PostgresError(code: .decoding, message: "column content: \(error)", underlying: error)
        }
    }
}
