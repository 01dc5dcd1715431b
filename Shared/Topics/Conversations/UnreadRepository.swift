public import FoundationEssentials
internal import Pictures
public import PostgresClient

/// Counts unread items of users: the badge number of the app.
public struct UnreadRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the unread items of each of these users: outcomes of image jobs, messages of their conversations, and photos of
    /// their events that still exist, without those of users whom they block. Users without unread items are omitted.
    ///
    /// Unread items are computed from sequence numbers, not counted as rows. Only the items of blocked members are counted one by one, by
    /// the indexes on their senders.
    public func totals(userIDs: [UUID]) async throws(PostgresError) -> [UUID: Int] {
        guard !userIDs.isEmpty else { return [:] }
        let query: PostgresQuery = """
            WITH unread AS MATERIALIZED (
                SELECT m.user_id, m.topic_id, m.read_seq, t.item_seq - m.read_seq AS items, t.name LIKE 'event:%' AS is_event
                FROM topic_members m JOIN topics t ON t.id = m.topic_id
                WHERE m.user_id = ANY(\(userIDs)) AND t.item_seq > m.read_seq
            ), hidden AS (
                SELECT u.user_id, u.topic_id, count(*) AS hidden_items
                FROM unread u JOIN user_blocks b ON b.user_id = u.user_id
                CROSS JOIN LATERAL (
                    SELECT seq FROM conversation_messages
                    WHERE topic_id = u.topic_id AND sender_id = b.blocked_id AND seq > u.read_seq
                    UNION ALL
                    SELECT seq FROM topic_photos
                    WHERE topic_id = u.topic_id AND uploader_id = b.blocked_id AND seq > u.read_seq
                      AND state = 'ready' AND expires_at > now()
                ) item
                GROUP BY u.user_id, u.topic_id
            ), photos AS (
                SELECT topic_id, count(*) AS left_over FROM topic_photos
                WHERE topic_id IN (SELECT topic_id FROM unread WHERE is_event) AND state = 'ready' AND expires_at > now()
                GROUP BY topic_id
            ), unseen AS (
                SELECT user_id, greatest(0, CASE WHEN is_event THEN least(items, coalesce(left_over, 0)) ELSE items END
                                            - coalesce(hidden_items, 0)) AS items
                FROM unread LEFT JOIN photos USING (topic_id) LEFT JOIN hidden USING (user_id, topic_id)
                UNION ALL
                SELECT user_id, count(*) FROM image_jobs
                WHERE user_id = ANY(\(userIDs)) AND status IN ('completed', 'failed') AND seen_at IS NULL
                  AND \(unescaped: ImageJobRepository.isVisible)
                GROUP BY user_id
            )
            SELECT user_id, sum(items)::bigint AS total FROM unseen GROUP BY user_id HAVING sum(items) > 0
            """
        var totals: [UUID: Int] = [:]
        for row in try await db.query(query.readOnly()) { totals[try row.decode("user_id")] = try row.decode("total") }
        return totals
    }
}
