public import FoundationEssentials
public import PostgresClient

/// Finds who blocks the sender of a push, in `user_blocks`; users change their blocks with ``PeopleListRepository``.
///
/// A block has effect where pushes are planned and claimed, where users are invited and added to topics, and where unread messages are
/// counted. The responses to the blocked user do not change.
public struct BlockRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns which members of topics block a sender: for each pair of a topic and a sender that is given.
    ///
    /// One lookup in the index by the blocked user for each pair; most senders are blocked by no recipient.
    public func blockers(in pairs: [(topicID: UUID, senderID: UUID)]) async throws(PostgresError) -> [UUID: Set<UUID>] {
        guard !pairs.isEmpty else { return [:] }
        let query: PostgresQuery = """
            SELECT DISTINCT p.sender_id, b.user_id
            FROM unnest(\(pairs.map(\.topicID)), \(pairs.map(\.senderID))) AS p (topic_id, sender_id)
            CROSS JOIN LATERAL (SELECT user_id FROM user_blocks WHERE blocked_id = p.sender_id OFFSET 0) b
            WHERE EXISTS (SELECT FROM topic_members m WHERE m.topic_id = p.topic_id AND m.user_id = b.user_id OFFSET 0)
            """
        var blockers: [UUID: Set<UUID>] = [:]
        for row in try await db.query(query.readOnly()) {
            blockers[try row.decode("sender_id"), default: []].insert(try row.decode("user_id"))
        }
        return blockers
    }
}
