public import FoundationEssentials
public import PostgresClient

/// Reads and writes a list of people that a user keeps: `user_blocks` or `user_contacts`.
///
/// A listed id may belong to no account, and the response is the same as for the id of an account.
public struct PeopleListRepository: Sendable {
    private let list: PeopleList
    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ list: PeopleList, _ db: some PostgresQueryable) {
        self.list = list
        self.db = db
    }

    /// Returns the users on the list of a user, the newest first.
    public func people(of userID: UUID) async throws(PostgresError) -> [ListedUser] {
        let query: PostgresQuery = """
            SELECT \(unescaped: list.column) AS person_id, created_at FROM \(unescaped: list.table) WHERE user_id = \(userID)
            ORDER BY created_at DESC, person_id
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in
            ListedUser(userID: try row.decode("person_id"), createdAt: try row.decode("created_at"))
        }
    }

    /// Puts a person on the list of a user. Call in a transaction: the lists of the user are locked first, so that concurrent calls keep
    /// the limit.
    ///
    /// - Returns: Whether the person is on the list now; false above ``PeopleList/maxCount``.
    public func add(_ personID: UUID, for userID: UUID) async throws(PostgresError) -> Bool {
        try await lock(userID)
        if try await ErasureRepository(db).isErased(personID) { return true }
        let rows = try await db.query(
            """
            WITH made AS (
                INSERT INTO \(unescaped: list.table) (user_id, \(unescaped: list.column)) SELECT \(userID), \(personID)
                WHERE (SELECT count(*) FROM \(unescaped: list.table) WHERE user_id = \(userID)) < \(PeopleList.maxCount)
                ON CONFLICT DO NOTHING RETURNING user_id
            )
            SELECT user_id FROM made
            UNION ALL SELECT user_id FROM \(unescaped: list.table)
            WHERE user_id = \(userID) AND \(unescaped: list.column) = \(personID)
            """)
        return !rows.isEmpty
    }

    /// Takes a person off the list of a user.
    public func remove(_ personID: UUID, for userID: UUID) async throws(PostgresError) {
        try await db.execute(
            "DELETE FROM \(unescaped: list.table) WHERE user_id = \(userID) AND \(unescaped: list.column) = \(personID)")
    }

    /// Replaces the list of a user; users who stay on the list keep their time. Call in a transaction: the lists of the user are locked
    /// first.
    ///
    /// - Parameter personIDs: At most ``PeopleList/maxCount`` different users.
    public func replace(with personIDs: [UUID], for userID: UUID) async throws(PostgresError) {
        try await lock(userID)
        try await db.execute(
            "DELETE FROM \(unescaped: list.table) WHERE user_id = \(userID) AND \(unescaped: list.column) <> ALL(\(personIDs))")
        try await db.execute(
            """
            INSERT INTO \(unescaped: list.table) (user_id, \(unescaped: list.column))
            SELECT \(userID), id FROM unnest(\(personIDs)) AS p (id)
            WHERE NOT \(unescaped: ErasedAccounts.contains("p.id"))
            ON CONFLICT DO NOTHING
            """)
    }

    /// Waits for transactions that change the lists of a user, and blocks later ones until this transaction ends: a user who is not on a
    /// list now is not on it at the commit either. A user on a list may be removed, unless the row is locked.
    package func holdAbsences(of userID: UUID) async throws(PostgresError) {
        try await db.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended('user_people:' || (\(userID)::uuid)::text, 0))")
    }

    private func lock(_ userID: UUID) async throws(PostgresError) {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('user_people:' || (\(userID)::uuid)::text, 0))")
    }
}
