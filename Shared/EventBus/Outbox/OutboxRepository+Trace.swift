public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// A message of the outbox, for an operator: where it is, and which groups have handled it.
public struct OutboxRecord: Sendable {
    /// A group that has to handle a message.
    public struct Handling: Sendable, Equatable {
        /// The consumer group.
        public let group: String
        /// When its effect was committed, or it became a dead letter; nil while it waits.
        public let handledAt: Date?
        /// Whether it is a dead letter of the group.
        public let isDead: Bool
    }

    /// The message.
    public let envelope: EncodedEnvelope
    /// The stream.
    public let stream: String
    /// The state.
    public let state: OutboxState
    /// When the transaction that appended it began.
    public let createdAt: Date
    /// When it was last published; nil if never.
    public let publishedAt: Date?
    /// The number of publications; more than one when a stream lost it.
    public let publications: Int
    /// The stream entry of the last publication.
    public let entryID: String?
    /// When the last group had handled it or given it up, or it expired; nil while it is open.
    public let settledAt: Date?
    /// The groups that have to handle it, in alphabetical order.
    public let handlings: [Handling]
}

extension OutboxRepository {
    /// The most messages that ``messages(requestID:)`` returns.
    public static let maxTracedMessages = 1000

    /// Returns the messages that one HTTP request led to, in the order in which they were appended; empty when the request is unknown, or
    /// so old that its messages are deleted. Takes milliseconds, by the index on the request id.
    public func messages(requestID: String) async throws(PostgresError) -> [OutboxRecord] {
        let query: PostgresQuery = """
            SELECT o.*, handled.names, handled.times, handled.dead
            FROM outbox o CROSS JOIN LATERAL (
                SELECT coalesce(array_agg(name ORDER BY name), '{}') AS names,
                       coalesce(array_agg(i.handled_at ORDER BY name), '{}') AS times,
                       coalesce(array_agg(d.id IS NOT NULL ORDER BY name), '{}') AS dead
                FROM unnest(o.consumer_groups) AS name
                LEFT JOIN LATERAL (\(unescaped: Self.mark(of: "o"))) AS i ON true
                LEFT JOIN dead_letters d ON d.stream = o.stream AND d.id = o.message_id AND d.consumer_group = name) AS handled
            WHERE o.request_id = \(requestID) ORDER BY o.id LIMIT \(Self.maxTracedMessages)
            """
        return try await db.query(query.readOnly()).map(OutboxRecord.init(row:))
    }
}

extension OutboxRecord {
    fileprivate init(row: PostgresRow) throws(PostgresError) {
        envelope = try EncodedEnvelope(row: row)
        stream = try row.decode("stream")
        state = try row.decodeCase("state")
        createdAt = try row.decode("created_at")
        publishedAt = try row.decode("published_at")
        publications = Int(try row.decode("publications", as: Int32.self))
        entryID = try row.decode("entry_id")
        settledAt = try row.decode("settled_at")
        let times: [Date?] = try row.decode("times")
        let dead: [Bool] = try row.decode("dead")
        let names: [String] = try row.decode("names")
        handlings = names.indices.map { Handling(group: names[$0], handledAt: times[$0], isDead: dead[$0]) }
    }
}
