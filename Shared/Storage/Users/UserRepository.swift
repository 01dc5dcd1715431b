public import FoundationEssentials
public import PostgresClient

/// Reads and writes `users`.
public struct UserRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns the user with this e-mail, and creates one if none exists.
    ///
    /// Concurrent callers with one e-mail get the same user.
    ///
    /// - Parameter id: The id of a new user; ignored when the user exists.
    public func findOrCreate(
        id: UUID = UUID(), emailLookup: [UInt8], emailSealed: [UInt8]
    ) async throws(PostgresError) -> User {
        let rows = try await db.query(
            """
            WITH made AS (
                INSERT INTO users (id, email_lookup, email_sealed) VALUES (\(id), \(emailLookup), \(emailSealed))
                ON CONFLICT (email_lookup) DO NOTHING
                RETURNING *
            )
            SELECT * FROM made UNION ALL SELECT * FROM users WHERE email_lookup = \(emailLookup)
            """)
        if let row = rows.first { return try User(row: row) }
        // Another transaction committed the same e-mail while this statement ran: the next snapshot sees that row.
        guard let user = try await find(emailLookup: emailLookup) else {
            throw PostgresError(code: .decoding, message: "no user found after an insert conflict")
        }
        return user
    }

    /// Returns the user with this e-mail, if there is one.
    public func find(emailLookup: [UInt8]) async throws(PostgresError) -> User? {
        let query: PostgresQuery = "SELECT * FROM users WHERE email_lookup = \(emailLookup)"
        let rows = try await db.query(query.readOnly())
        return try rows.first.map(User.init(row:))
    }

    /// Returns the user with this id, if there is one.
    public func find(id: UUID) async throws(PostgresError) -> User? {
        let query: PostgresQuery = "SELECT * FROM users WHERE id = \(id)"
        let rows = try await db.query(query.readOnly())
        return try rows.first.map(User.init(row:))
    }

    /// Sets or removes (`nil`) the sealed name of a user that other users see.
    ///
    /// - Returns: Whether the user exists.
    public func setDisplayName(_ sealed: [UInt8]?, of id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute("UPDATE users SET display_name_sealed = \(sealed) WHERE id = \(id)") == 1
    }
}
