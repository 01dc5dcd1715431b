public import FoundationEssentials
public import PostgresClient
public import WireFormat

/// A message that waits for the relay: a row of `outbox`.
public struct OutboxMessage: Sendable {
    /// The row's number; grows with every append.
    public let id: Int64
    /// The stream it belongs in.
    public let stream: String
    /// The message.
    public let envelope: EncodedEnvelope
}

/// Reads and writes `outbox`: messages that a committed transaction owes to the streams.
public struct OutboxRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or, as it should, inside the transaction whose effect the message reports.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Appends one message for a stream.
    public func append(_ envelope: EncodedEnvelope, stream: String) async throws(PostgresError) {
        try await append([(envelope: envelope, stream: stream)])
    }

    /// Appends messages with one statement, so that the relay is woken once. Throws a unique violation when a message
    /// id is already there.
    public func append(_ batch: [(envelope: EncodedEnvelope, stream: String)]) async throws(PostgresError) {
        guard !batch.isEmpty else { return }
        try await db.execute(
            """
            INSERT INTO outbox (stream, message_id, key, type, version, occurred_at, traceparent, request_id,
                                expires_at, body)
            SELECT stream, message_id, key, type, version, occurred_at, traceparent, request_id, expires_at, body
            FROM unnest(\(batch.map(\.stream)), \(batch.map(\.envelope.id)), \(batch.map(\.envelope.key)),
                        \(batch.map(\.envelope.type.rawValue)), \(batch.map { Int32($0.envelope.version) }),
                        \(batch.map(\.envelope.occurredAt)), \(batch.map(\.envelope.traceparent)),
                        \(batch.map(\.envelope.requestID)), \(batch.map(\.envelope.expiresAt)),
                        \(batch.map(\.envelope.body))) WITH ORDINALITY
                AS m (stream, message_id, key, type, version, occurred_at, traceparent, request_id, expires_at, body,
                      position)
            ORDER BY position
            """)
    }

    /// Locks the oldest messages that no other relay has in hand; inside a transaction that then deletes them.
    public func takeBatch(limit: Int) async throws(PostgresError) -> [OutboxMessage] {
        let rows = try await db.query("SELECT * FROM outbox ORDER BY id LIMIT \(limit) FOR UPDATE SKIP LOCKED")
        return try rows.map { row throws(PostgresError) in
            OutboxMessage(
                id: try row.decode("id"), stream: try row.decode("stream"), envelope: try EncodedEnvelope(row: row))
        }
    }

    /// Deletes messages that the streams have.
    public func delete(_ ids: [Int64]) async throws(PostgresError) {
        guard !ids.isEmpty else { return }
        try await db.execute("DELETE FROM outbox WHERE id = ANY(\(ids))")
    }

    /// Counts the messages that wait, and how long the oldest has waited.
    public func backlog() async throws(PostgresError) -> (count: Int, oldestAt: Date?) {
        let rows = try await db.query("SELECT count(*) AS waiting, min(created_at) AS oldest_at FROM outbox")
        guard let row = rows.first else { return (0, nil) }
        return (try row.decode("waiting"), try row.decode("oldest_at"))
    }
}

extension EncodedEnvelope {
    fileprivate init(row: PostgresRow) throws(PostgresError) {
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
