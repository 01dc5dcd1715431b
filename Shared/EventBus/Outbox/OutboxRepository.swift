public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `outbox`: the messages that committed transactions publish, until they are handled.
public struct OutboxRepository: Sendable {
    /// The `LISTEN` channel that a commit with new messages notifies.
    static let channel = "heliograph_outbox"

    let db: any PostgresQueryable

    /// Works on a client or, preferably, inside the transaction whose effect the message reports.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Appends one message.
    public func append(_ message: NewOutboxMessage) async throws(PostgresError) {
        try await append([message])
    }

    /// Appends messages with one statement, and wakes a relay when they are committed: the relay of the same client or, without one, all
    /// other relays. When a message id already exists, the next statement or the commit throws a unique violation.
    public func append(_ batch: [NewOutboxMessage]) async throws(PostgresError) {
        guard !batch.isEmpty else { return }
        let isHeardHere = db.hasListeners(on: Self.channel)
        let envelopes = batch.map(\.envelope)
        // SQL has no array of arrays of different lengths; group names do not contain commas.
        let groups = batch.map { $0.groups.joined(separator: ",") }
        try await db.enqueue(
            """
            WITH appended AS (
                INSERT INTO outbox (stream, message_id, key, type, version, occurred_at, traceparent, request_id,
                                    expires_at, body, consumer_groups)
                SELECT stream, message_id, key, type, version, occurred_at, traceparent, request_id, expires_at, body,
                       string_to_array(groups, ',')
                FROM unnest(\(batch.map(\.stream)), \(envelopes.map(\.id)), \(envelopes.map(\.key)),
                            \(envelopes.map(\.type.rawValue)), \(envelopes.map { Int32($0.version) }),
                            \(envelopes.map(\.occurredAt)), \(envelopes.map(\.traceparent)),
                            \(envelopes.map(\.requestID)), \(envelopes.map(\.expiresAt)),
                            \(envelopes.map(\.body)), \(groups)) WITH ORDINALITY
                    AS m (stream, message_id, key, type, version, occurred_at, traceparent, request_id, expires_at, body,
                          groups, position)
                ORDER BY position
            )
            SELECT pg_notify(\(Self.channel), '') WHERE NOT \(isHeardHere)
            """)
        if isHeardHere { db.wakeListeners(on: Self.channel) }
    }

    /// Locks the oldest waiting messages that no other relay has locked. Call in the transaction that then marks them. Messages that
    /// their stream refused are omitted until their next attempt is due.
    public func takeBatch(limit: Int) async throws(PostgresError) -> [OutboxMessage] {
        let rows = try await db.query(
            """
            SELECT id, stream, message_id, key, type, version, occurred_at, traceparent, request_id, expires_at, body,
                   CASE WHEN is_redriven THEN consumer_groups END AS only_groups
            FROM outbox WHERE state = 'waiting' AND (due_at IS NULL OR due_at <= now())
            ORDER BY id LIMIT \(limit) FOR UPDATE SKIP LOCKED
            """)
        return try rows.map { row throws(PostgresError) in
            OutboxMessage(
                id: try row.decode("id"), stream: try row.decode("stream"), envelope: try EncodedEnvelope(row: row),
                onlyGroups: try row.decode("only_groups"))
        }
    }

    /// Records that messages are in their streams: `waiting → published`, or `confirmed` at once when a message has no groups.
    ///
    /// - Parameters:
    ///   - wait: The time until a message is checked; multiplied by 1.5 with each publication.
    ///   - maxWait: The maximum of that time.
    public func markPublished(
        _ publications: [OutboxPublication], wait: Duration, maxWait: Duration
    ) async throws(PostgresError) {
        guard !publications.isEmpty else { return }
        let ids = publications.map(\.messageID)
        // Finds rows by an array of keys, and avoids the index of waiting messages: a plan made while that is empty would compare
        // each key with the whole backlog.
        try await db.enqueue(
            """
            UPDATE outbox
            SET state = CASE WHEN cardinality(consumer_groups) = 0 THEN 'confirmed' ELSE 'published' END,
                publications = publications + 1, refusals = 0,
                entry_id = (\(publications.map(\.entryID)))[array_position(\(ids), message_id)], published_at = clock_timestamp(),
                settled_at = CASE WHEN cardinality(consumer_groups) = 0 THEN clock_timestamp() END,
                due_at = clock_timestamp() + make_interval(
                    secs => least(\(wait / .seconds(1)) * power(1.5, least(publications, 30)), \(maxWait / .seconds(1))))
            WHERE message_id = ANY(\(ids)) AND (state || '') = 'waiting'
            """)
    }

    /// Defers waiting messages that their stream refused: by 1 s the first time, then twice as long each time, at most 30 s.
    public func postpone(_ messageIDs: [UUID]) async throws(PostgresError) {
        guard !messageIDs.isEmpty else { return }
        try await db.enqueue(
            """
            UPDATE outbox
            SET refusals = refusals + 1,
                due_at = clock_timestamp() + make_interval(secs => least(power(2, least(refusals, 5)), 30))
            WHERE message_id = ANY(\(messageIDs)) AND state = 'waiting'
            """)
    }

    /// Returns the numbers of messages that wait for the relay and for confirmation, and the times of the oldest ones.
    public func backlog() async throws(PostgresError) -> OutboxBacklog {
        let query: PostgresQuery = """
            SELECT waiting.count AS waiting, waiting.oldest_at AS oldest_waiting_at,
                   published.count AS unconfirmed, published.oldest_at AS oldest_unconfirmed_at
            FROM (SELECT count(*) AS count, min(created_at) AS oldest_at FROM outbox WHERE state = 'waiting') AS waiting,
                 (SELECT count(*) AS count, min(created_at) AS oldest_at FROM outbox WHERE state = 'published') AS published
            """
        guard let row = try await db.query(query.readOnly()).first else {
            throw PostgresError(code: .decoding, message: "counting the outbox gave no row")
        }
        return OutboxBacklog(
            waiting: try row.decode("waiting"), oldestWaitingAt: try row.decode("oldest_waiting_at"),
            unconfirmed: try row.decode("unconfirmed"), oldestUnconfirmedAt: try row.decode("oldest_unconfirmed_at"))
    }
}

extension EncodedEnvelope {
    /// Reads the envelope in a row of `outbox`.
    convenience init(row: PostgresRow) throws(PostgresError) {
        let type = EventType(rawValue: try row.decode("type"))
        let version = Int(try row.decode("version", as: Int32.self))
        let id: UUID = try row.decode("message_id")
        let key: String = try row.decode("key")
        let occurredAt: Date = try row.decode("occurred_at")
        let traceparent: String? = try row.decode("traceparent")
        let requestID: String? = try row.decode("request_id")
        let expiresAt: Date? = try row.decode("expires_at")
        let body: [UInt8] = try row.decode("body")
        do {
            try self.init(
                id: id, type: type, version: version, key: key, occurredAt: occurredAt, traceparent: traceparent,
                requestID: requestID, expiresAt: expiresAt, body: body)
        } catch {
            throw PostgresError(code: .decoding, message: "an outbox row is no envelope", underlying: error)
        }
    }
}
