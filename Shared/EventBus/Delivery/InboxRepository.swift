public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Reads and writes `inbox`: which messages a consumer group has handled, or given up (``DeadLetterRepository``).
public struct InboxRepository: Sendable {
    /// The time for which a handled message is kept: 14 days, longer than any stream keeps a message.
    public static let retention: Duration = .seconds(14 * 24 * 60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or, preferably, inside the transaction of the messages' effect.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Marks messages as handled by a group. Waits for another transaction that is handling one of them.
    ///
    /// - Returns: The messages that were not marked before; the caller applies their effect.
    public func markHandled(group: String, ids: [UUID]) async throws(PostgresError) -> Set<UUID> {
        guard !ids.isEmpty else { return [] }
        let rows = try await db.query(
            """
            INSERT INTO inbox (consumer_group, message_id)
            SELECT DISTINCT \(group), id FROM unnest(\(ids)) AS id ORDER BY id
            ON CONFLICT DO NOTHING
            RETURNING message_id
            """)
        return Set(try rows.map { row throws(PostgresError) in try row.decode("message_id", as: UUID.self) })
    }

    /// Returns the messages that a group has already handled, so that the caller can skip long work on them.
    public func handled(group: String, ids: [UUID]) async throws(PostgresError) -> Set<UUID> {
        guard !ids.isEmpty else { return [] }
        let rows = try await db.query(
            "SELECT message_id FROM inbox WHERE consumer_group = \(group) AND message_id = ANY(\(ids))")
        return Set(try rows.map { row throws(PostgresError) in try row.decode("message_id", as: UUID.self) })
    }

    /// Removes the marks of messages that a group is to handle again.
    func unmark(group: String, ids: [UUID]) async throws(PostgresError) {
        guard !ids.isEmpty else { return }
        try await db.execute("DELETE FROM inbox WHERE consumer_group = \(group) AND message_id = ANY(\(ids))")
    }

    /// Deletes at most `limit` marks of messages that were created and handled more than `age` ago.
    ///
    /// Message ids are UUIDv7 and begin with their time, so the old ones of a group are a range of the primary key.
    ///
    /// - Returns: The number of deleted marks.
    @discardableResult
    public func deleteOlder(than age: Duration = Self.retention, limit: Int) async throws(PostgresError) -> Int {
        let cutoff = Date().addingTimeInterval(-(age / .seconds(1)))
        return try await db.execute(
            """
            WITH RECURSIVE groups (name) AS (
                (SELECT consumer_group FROM inbox ORDER BY consumer_group LIMIT 1)
                UNION ALL
                SELECT (SELECT consumer_group FROM inbox WHERE consumer_group > name ORDER BY consumer_group LIMIT 1)
                FROM groups WHERE name IS NOT NULL
            ), old AS (
                SELECT o.consumer_group, o.message_id
                FROM groups CROSS JOIN LATERAL (
                    SELECT consumer_group, message_id FROM inbox
                    WHERE consumer_group = name AND message_id < \(UUIDv7.generate(at: cutoff))
                      AND handled_at < \(cutoff)
                    ORDER BY message_id LIMIT \(limit)) AS o
                LIMIT \(limit)
            )
            DELETE FROM inbox USING old
            WHERE inbox.consumer_group = old.consumer_group AND inbox.message_id = old.message_id
            """)
    }
}
