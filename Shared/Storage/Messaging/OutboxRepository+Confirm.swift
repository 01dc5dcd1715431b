public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// What a look at published messages brought.
public struct OutboxCheck: Sendable {
    /// How many messages were found handled by all their groups.
    public let confirmed: Int
    /// Those that some group has not handled: it has them still before it, or they are lost.
    public let overdue: [OverdueMessage]
}

extension OutboxRepository {
    /// Looks at the published messages that are due, with one statement: what the inbox knows of becomes `confirmed`, and the
    /// rest is given to the caller alone, until `recheck` is over.
    ///
    /// What is confirmed is never published again, and what people wrote leaves it.
    ///
    /// - Parameter limit: At most so many messages, the longest due first.
    public func checkPublished(limit: Int, recheck: Duration) async throws(PostgresError) -> OutboxCheck {
        // The limit is part of the text: for a bound one the planner assumes a tenth of the table, and reads all of it.
        let rows = try await db.query(
            """
            WITH due AS (
                SELECT message_id, consumer_groups FROM outbox
                WHERE state = 'published' AND due_at <= now()
                ORDER BY due_at LIMIT \(unescaped: limit.description) FOR UPDATE SKIP LOCKED
            ), checked AS (
                SELECT due.message_id, marks.missing, marks.handled_at
                FROM due CROSS JOIN LATERAL (
                    SELECT array_agg(name) FILTER (WHERE i.message_id IS NULL) AS missing, max(i.handled_at) AS handled_at
                    FROM unnest(due.consumer_groups) AS name
                    LEFT JOIN inbox i ON i.consumer_group = name AND i.message_id = due.message_id) AS marks
            )
            UPDATE outbox o
            SET state = CASE WHEN missing IS NULL THEN 'confirmed' ELSE 'published' END,
                settled_at = CASE WHEN missing IS NULL THEN coalesce(handled_at, now()) END,
                due_at = now() + make_interval(secs => \(recheck.inSeconds)),
                body = CASE WHEN missing IS NULL AND type = 'notification.requested' THEN \(unescaped: Self.withoutTexts) ELSE body END
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

    /// The body of a `notification.requested` without what is sealed in it, as SQL. Not by `jsonb`, which refuses an escaped NUL: one
    /// such message would keep all others from being looked at. Within a string of the JSON the pattern's quotes would be escaped.
    private static let withoutTexts = """
        convert_to(regexp_replace(convert_from(body, 'UTF8'),
            '"(\(NotificationParameter.textSealed)|\(NotificationParameter.senderNameSealed))":"[^"]*"', '"\\1":""', 'g'), 'UTF8')
        """

    /// Lets the relay publish messages again that their stream has lost: `published → waiting`, with the same id; `expired`
    /// when their time is over.
    ///
    /// The caller has asked the stream before: what a group handled meanwhile, and what was published again meanwhile, is
    /// left alone.
    ///
    /// - Returns: How many wait again, and how many were given up.
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

    /// Notes that messages became dead letters: `waiting | published → dead`. They are not published again by themselves.
    public func markDead(messageIDs: [UUID]) async throws(PostgresError) {
        guard !messageIDs.isEmpty else { return }
        try await db.execute(
            """
            UPDATE outbox SET state = 'dead', settled_at = now()
            WHERE message_id = ANY(\(messageIDs)) AND state IN ('waiting', 'published')
            """)
    }

    /// Watches over dead letters again that an operator has put back into their stream: `dead → published`.
    ///
    /// - Parameter wait: After this time somebody looks whether the message was handled.
    public func markRedriven(messageIDs: [UUID], wait: Duration) async throws(PostgresError) {
        guard !messageIDs.isEmpty else { return }
        try await db.execute(
            """
            UPDATE outbox
            SET state = 'published', settled_at = NULL, due_at = now() + make_interval(secs => \(wait.inSeconds))
            WHERE message_id = ANY(\(messageIDs)) AND state = 'dead' AND entry_id IS NOT NULL
            """)
    }

    /// Deletes messages that were made and settled more than `age` ago, at most `limit`.
    ///
    /// Message ids are UUIDv7 and begin with their time, so old messages are a range of the primary key.
    ///
    /// - Returns: How many were deleted.
    @discardableResult
    public func deleteSettled(olderThan age: Duration, limit: Int) async throws(PostgresError) -> Int {
        let cutoff = Date().addingTimeInterval(-age.inSeconds)
        return try await db.execute(
            """
            DELETE FROM outbox WHERE message_id IN (
                SELECT message_id FROM outbox
                WHERE message_id < \(UUIDv7.generate(at: cutoff)) AND settled_at < \(cutoff)
                ORDER BY message_id LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
