public import FoundationEssentials
public import PostgresClient

/// A user whom another one blocks: a row of `user_blocks`.
public struct UserBlock: Sendable, Equatable {
    /// The blocked user; the id may belong to no account.
    public let userID: UUID
    /// When it began.
    public let createdAt: Date
}

/// Reads and writes `user_blocks`.
///
/// A block has effect where pushes are planned and claimed, where invitations are announced and where unread messages are counted. The
/// blocked user sees no difference: topics, members and responses stay the same.
public struct BlockRepository: Sendable {
    /// The most users that one user blocks.
    public static let maxBlocks = 1_000

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the users whom a user blocks, the newest block first.
    public func blocked(by userID: UUID) async throws(PostgresError) -> [UserBlock] {
        let query: PostgresQuery = """
            SELECT blocked_id, created_at FROM user_blocks WHERE user_id = \(userID) ORDER BY created_at DESC, blocked_id
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            UserBlock(userID: try row.decode("blocked_id"), createdAt: try row.decode("created_at"))
        }
    }

    /// Blocks a user. Call in a transaction: the account is locked first, so that concurrent calls keep the limit.
    ///
    /// - Returns: Whether the user is blocked now; false above ``maxBlocks``.
    public func block(_ blockedID: UUID, by userID: UUID) async throws(PostgresError) -> Bool {
        try await lock(userID)
        if try await ErasureRepository(db).isErased(blockedID) { return true }
        let rows = try await db.query(
            """
            WITH made AS (
                INSERT INTO user_blocks (user_id, blocked_id) SELECT \(userID), \(blockedID)
                WHERE (SELECT count(*) FROM user_blocks WHERE user_id = \(userID)) < \(Self.maxBlocks)
                ON CONFLICT DO NOTHING RETURNING blocked_id
            )
            SELECT blocked_id FROM made
            UNION ALL SELECT blocked_id FROM user_blocks WHERE user_id = \(userID) AND blocked_id = \(blockedID)
            """)
        return !rows.isEmpty
    }

    /// Ends a block.
    public func unblock(_ blockedID: UUID, by userID: UUID) async throws(PostgresError) {
        try await db.execute("DELETE FROM user_blocks WHERE user_id = \(userID) AND blocked_id = \(blockedID)")
    }

    /// Replaces all blocks of a user; those that stay keep their time. Call in a transaction: the account is locked first.
    ///
    /// - Parameter blockedIDs: At most ``maxBlocks`` different users.
    public func replace(by userID: UUID, with blockedIDs: [UUID]) async throws(PostgresError) {
        try await lock(userID)
        try await db.execute("DELETE FROM user_blocks WHERE user_id = \(userID) AND blocked_id <> ALL(\(blockedIDs))")
        try await db.execute(
            """
            INSERT INTO user_blocks (user_id, blocked_id) SELECT \(userID), id FROM unnest(\(blockedIDs)) AS b (id)
            WHERE NOT \(unescaped: Tombstone.covers("b.id"))
            ON CONFLICT DO NOTHING
            """)
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

    private func lock(_ userID: UUID) async throws(PostgresError) {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('user_blocks:' || (\(userID)::uuid)::text, 0))")
    }
}
