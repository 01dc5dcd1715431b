public import FoundationEssentials
public import PostgresClient

/// Reads and writes `users`.
public struct UserRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Creates the account of a proven e-mail, with the e-mail and the name of its verification.
    ///
    /// - Parameter id: The id of the account, which has to be that of the verification: what is stored for the account is sealed for it.
    /// - Returns: Whether the account was created; `false` when the e-mail is not proven, or has an account.
    public func create(id: UUID, verified verificationID: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            INSERT INTO users (id, email_lookup, email_sealed, display_name_sealed)
            SELECT account_id, email_lookup, email_sealed, display_name_sealed FROM email_verifications
            WHERE id = \(verificationID) AND account_id = \(id) AND verified_at IS NOT NULL AND purpose <> 'email_change'
            ON CONFLICT DO NOTHING
            """) == 1
    }

    /// Sets the e-mail of an account.
    ///
    /// - Returns: Whether the account exists.
    /// - Throws: `PostgresError` with a unique violation when the e-mail has an account.
    public func setEmail(_ email: SealedEmail, of id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute(
            "UPDATE users SET email_lookup = \(email.lookup), email_sealed = \(email.sealed) WHERE id = \(id)") == 1
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

    /// Returns whether an account exists, without its data.
    public func exists(id: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = "SELECT FROM users WHERE id = \(id)"
        return try await !db.query(query.readOnly()).isEmpty
    }

    /// Sets or removes (`nil`) the sealed name of a user that other users see.
    ///
    /// - Returns: Whether the user exists.
    public func setDisplayName(_ sealed: [UInt8]?, of id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute("UPDATE users SET display_name_sealed = \(sealed) WHERE id = \(id)") == 1
    }
}
