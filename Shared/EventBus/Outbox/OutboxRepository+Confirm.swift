internal import FoundationEssentials
public import PostgresClient
internal import Push
internal import WireFormat

/// The result of checking published messages.
public struct OutboxCheck: Sendable {
    /// The number of messages that each of their groups has handled or given up.
    public let confirmed: Int
    /// The messages that some group has not handled and not given up: they are still in its backlog, or lost.
    public let overdue: [OverdueMessage]
}

extension OutboxRepository {
    /// Checks the due published messages with one statement: messages that all groups have in their inbox become `confirmed`. The others
    /// are returned to this caller only, until the time `recheck` has passed.
    ///
    /// A confirmed message is never republished, and users' texts are removed from it.
    ///
    /// - Parameters:
    ///   - limit: The most messages to check; the longest due come first.
    ///   - group: The group whose messages are checked; nil for all messages.
    public func checkPublished(limit: Int, recheck: Duration, of group: String? = nil) async throws(PostgresError) -> OutboxCheck {
        // The limit is part of the SQL text: for a bound parameter the planner assumes a tenth of the table, and reads all of it.
        let rows = try await db.query(
            """
            WITH due AS (
                SELECT message_id, consumer_groups FROM outbox
                WHERE state = 'published' AND due_at <= now()
                  AND (\(group)::text IS NULL OR \(group) = ANY(consumer_groups))
                ORDER BY due_at LIMIT \(unescaped: limit.description) FOR UPDATE SKIP LOCKED
            ), checked AS (
                SELECT due.message_id, marks.missing, marks.handled_at
                FROM due CROSS JOIN LATERAL (
                    SELECT array_agg(name) FILTER (WHERE i.message_id IS NULL) AS missing, max(i.handled_at) AS handled_at
                    FROM unnest(due.consumer_groups) AS name
                    LEFT JOIN LATERAL (\(unescaped: Self.mark(of: "due"))) AS i ON true) AS marks
            )
            UPDATE outbox o
            SET state = CASE WHEN missing IS NULL THEN 'confirmed' ELSE 'published' END,
                settled_at = CASE WHEN missing IS NULL THEN coalesce(handled_at, now()) END,
                due_at = now() + make_interval(secs => \(recheck / .seconds(1))),
                body = CASE WHEN missing IS NULL AND type = '\(unescaped: EventType.notificationRequested.rawValue)'
                            THEN \(unescaped: Self.withoutTexts) ELSE body END
            FROM checked WHERE o.message_id = checked.message_id
            RETURNING o.message_id, o.stream, o.entry_id, coalesce(missing, '{}') AS missing
            """)
        var overdue: [OverdueMessage] = []
        for row in rows {
            let missing: [String] = try row.decode("missing")
            guard !missing.isEmpty else { continue }
            overdue.append(
                OverdueMessage(
                    publication: OutboxPublication(
                        messageID: try row.decode("message_id"), entryID: try row.decode("entry_id")),
                    stream: try row.decode("stream"), missingGroups: missing))
        }
        return OutboxCheck(confirmed: rows.count - overdue.count, overdue: overdue)
    }

    /// SQL query for the inbox mark of the group `name` for a message. OFFSET 0 keeps it a lookup by the primary key: the planner
    /// expects ten groups a message, and would otherwise join them with the whole inbox, once for each message.
    ///
    /// - Parameter message: The alias of the table that has the column `message_id`.
    static func mark(of message: String) -> String {
        "SELECT message_id, handled_at FROM inbox WHERE consumer_group = name AND message_id = \(message).message_id OFFSET 0"
    }

    /// SQL expression for the body of a `notification.requested` without the bytes of its sealed texts. Does not use `jsonb`, which
    /// rejects an escaped NUL: one such message would block the check of all others.
    private static let withoutTexts =
        "convert_to(regexp_replace(convert_from(body, 'UTF8'), '\(SealedText.pattern)', '\(SealedText.removal)', 'g'), 'UTF8')"

    /// Makes the relay republish messages that their stream has lost: `published → waiting`, with the same id; expired messages become
    /// `expired`.
    ///
    /// The caller has checked the stream before. Messages that were handled or republished in the meantime are left alone.
    ///
    /// - Returns: The numbers of messages that wait again and that expired.
    public func publishAgain(
        _ lost: [OutboxPublication]
    ) async throws(PostgresError) -> (waiting: Int, expired: Int) {
        guard !lost.isEmpty else { return (0, 0) }
        let rows = try await db.query(
            """
            UPDATE outbox o
            SET state = CASE WHEN expires_at <= now() THEN 'expired' ELSE 'waiting' END,
                settled_at = CASE WHEN expires_at <= now() THEN now() END, due_at = NULL
            FROM unnest(\(lost.map(\.messageID)), \(lost.map(\.entryID))) AS l (message_id, entry_id)
            WHERE o.message_id = l.message_id AND o.entry_id = l.entry_id AND o.state = 'published' AND EXISTS (
                SELECT FROM unnest(o.consumer_groups) AS name WHERE NOT EXISTS (
                    SELECT FROM inbox i WHERE i.consumer_group = name AND i.message_id = o.message_id))
            RETURNING o.state
            """)
        let states = try rows.map { row throws(PostgresError) in try row.decodeCase("state", as: OutboxState.self) }
        return (states.count { $0 == .waiting }, states.count { $0 == .expired })
    }

    /// Deletes at most `limit` messages that were created and settled more than `age` ago.
    ///
    /// Message ids are UUIDv7 and begin with their time, so old messages are a range of the primary key.
    ///
    /// - Returns: The number of deleted messages.
    @discardableResult
    public func deleteSettled(olderThan age: Duration, limit: Int) async throws(PostgresError) -> Int {
        let cutoff = Date().addingTimeInterval(-(age / .seconds(1)))
        return try await db.execute(
            """
            DELETE FROM outbox WHERE message_id IN (
                SELECT message_id FROM outbox
                WHERE message_id < \(UUIDv7.generate(at: cutoff)) AND settled_at < \(cutoff)
                ORDER BY message_id LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
