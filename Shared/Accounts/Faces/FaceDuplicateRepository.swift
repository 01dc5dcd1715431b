public import FoundationEssentials
public import PostgresClient

/// Reads and writes `face_duplicates`.
public struct FaceDuplicateRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Serialises, until the transaction ends, the transactions that enrol a face or store a pending one: of two with the same face, the
    /// second sees the face of the first. Call it before any row is locked.
    public func lock() async throws(PostgresError) {
        try await db.execute("SELECT pg_advisory_xact_lock(\(unescaped: Self.lockKey))")
    }

    static let lockKey = "hashtextextended('face_enrolments', 0)"

    /// Returns whether others with the face of a user have an active account, unless an operator has resolved the pair.
    ///
    /// The rows of all of `others` are locked as by a foreign key: an erasure that ends later sees the rows of this transaction.
    public func conflicts(of userID: UUID, with others: [UUID]) async throws(PostgresError) -> Bool {
        try await !db.query(
            """
            WITH active AS (
                SELECT id FROM users WHERE id = ANY(\(others)) AND id <> \(userID) AND state = 'active' ORDER BY id FOR KEY SHARE)
            SELECT FROM active a WHERE NOT EXISTS (
                SELECT FROM face_duplicates WHERE state = 'resolved'
                  AND least(user_id, other_id) = least(\(userID)::uuid, a.id)
                  AND greatest(user_id, other_id) = greatest(\(userID)::uuid, a.id))
            """
        ).isEmpty
    }

    /// Stores that other accounts, or sign-ups that wait for their proof, have the face of a user. A known pair is not changed, resolved or
    /// not.
    ///
    /// - Returns: The number of new pairs.
    public func add(_ others: [UUID], of userID: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            INSERT INTO face_duplicates (user_id, other_id)
            SELECT \(userID)::uuid, id FROM (
                SELECT id FROM users WHERE id = ANY(\(others)) AND state = 'active'
                UNION
                SELECT user_id FROM pending_enrolments WHERE user_id = ANY(\(others)) AND due_at IS NULL) o
            WHERE id <> \(userID)::uuid ORDER BY id
            ON CONFLICT DO NOTHING
            """)
    }

    /// Returns the pairs of accounts that both have a face in effect, the oldest first.
    public func list(_ state: FaceDuplicate.State, limit: Int) async throws(PostgresError) -> [FaceDuplicate] {
        let query: PostgresQuery = """
            SELECT d.* FROM face_duplicates d
            JOIN face_templates f ON f.user_id = d.user_id JOIN face_templates o ON o.user_id = d.other_id
            WHERE d.state = \(state.rawValue) ORDER BY d.found_at, d.id LIMIT \(limit)
            """
        return try await db.query(query.readOnly()).map(FaceDuplicate.init(row:))
    }

    /// Resolves a pair: `open → resolved`.
    ///
    /// - Returns: Whether this call resolved it.
    public func resolve(id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute("UPDATE face_duplicates SET state = 'resolved', resolved_at = now() WHERE id = \(id) AND state = 'open'") == 1
    }

    /// Deletes at most `limit` pairs in which an account has no face any more. Reads all pairs.
    ///
    /// - Returns: The number of deleted rows.
    public func deleteWithoutFace(limit: Int) async throws(PostgresError) -> Int {
        try await db.withTimeLimit(.seconds(30)).execute(
            """
            DELETE FROM face_duplicates WHERE id IN (
                SELECT id FROM face_duplicates d WHERE (
                    SELECT count(*) FROM (
                        SELECT user_id FROM face_templates WHERE user_id IN (d.user_id, d.other_id)
                        UNION
                        SELECT user_id FROM pending_enrolments WHERE user_id IN (d.user_id, d.other_id)) f) < 2
                ORDER BY found_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
