public import FoundationEssentials
public import PostgresClient
internal import WireFormat

/// Deletes what token-registry keeps of a user beside their installations: the ledger of pushes to them, and their id in pushes to others.
public struct PushErasureRepository: Sendable {
    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db.withTimeLimit(Erasure.statementTimeout)
    }

    /// Deletes at most `limit` ended notifications to a user, with their deliveries and pages. Call in a transaction.
    ///
    /// - Returns: The number of deleted notifications.
    public func deleteEnded(of userID: UUID, limit: Int) async throws(PostgresError) -> Int {
        let ids: [UUID] = try await db.query(
            """
            SELECT id FROM notifications
            WHERE recipient_type = 'user' AND recipient_id = \(userID.wireString) AND state IN ('settled', 'skipped')
            LIMIT \(limit) FOR UPDATE
            """
        ).column("id")
        guard !ids.isEmpty else { return 0 }
        try await db.enqueue("DELETE FROM deliveries WHERE notification_id = ANY(\(ids))")
        try await db.enqueue("DELETE FROM delivery_pages WHERE notification_id = ANY(\(ids))")
        return try await db.execute("DELETE FROM notifications WHERE id = ANY(\(ids))")
    }

    /// Replaces a user who is the first or last of the pages of pushes to topics: such a page then covers all users.
    /// The pages stay, and the receipt of the erasure does not count them.
    public func forgetBounds(of userID: UUID) async throws(PostgresError) {
        try await db.execute(
            """
            UPDATE delivery_pages SET first_user_id = '00000000-0000-0000-0000-000000000000',
                last_user_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
            WHERE \(userID) IN (first_user_id, last_user_id) AND state = 'settled'
            """)
    }

    /// Returns whether pushes to a user, or that name the user, have not ended.
    public func hasOpen(of userID: UUID) async throws(PostgresError) -> Bool {
        try await db.query(
            """
            SELECT EXISTS (SELECT FROM notifications WHERE recipient_type = 'user' AND recipient_id = \(userID.wireString))
                OR EXISTS (SELECT FROM notifications WHERE state IN ('requested', 'addressed')
                           AND \(userID) IN (sender_id, account_id))
                OR EXISTS (SELECT FROM topic_fan_outs WHERE \(userID) IN (except_user_id, sender_id, after_user_id))
                OR EXISTS (SELECT FROM delivery_pages WHERE \(userID) IN (first_user_id, last_user_id)) AS open
            """
        ).required().decode("open")
    }
}
