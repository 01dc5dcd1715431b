public import FoundationEssentials
public import PostgresClient

/// Reads and writes `used_challenges`: each challenge starts one session.
public struct UsedChallengeRepository: Sendable {
    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Uses a challenge. Call in the transaction that inserts its session: of two concurrent ones, the second waits for the first.
    ///
    /// - Parameter expiresAt: A time from which no upload that names the challenge is accepted.
    /// - Returns: Whether it was not used before.
    public func use(id: UUID, expiresAt: Date) async throws(PostgresError) -> Bool {
        try await db.execute(
            "INSERT INTO used_challenges (id, expires_at) VALUES (\(id), \(expiresAt)) ON CONFLICT (id) DO NOTHING") == 1
    }

    /// Deletes at most `limit` ids of challenges that no upload can name any more.
    ///
    /// - Returns: The number of deleted rows.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM used_challenges WHERE id IN (
                SELECT id FROM used_challenges WHERE expires_at <= now()
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
