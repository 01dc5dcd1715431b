public import FoundationEssentials
public import PostgresClient

/// Reads and writes `users`.
public struct UserRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Creates the account of a proven e-mail, with the e-mail and the name of its verification. Call in a transaction.
    ///
    /// - Parameter id: The id of the account, which has to be the id of the verification: the stored values of the account are sealed for
    ///   it.
    /// - Returns: Whether the account was created; `false` when the e-mail is not proven, or has an account.
    public func create(id: UUID, verified verificationID: UUID) async throws(PostgresError) -> Bool {
        let proofs = try await db.query("SELECT email_lookups FROM email_verifications WHERE id = \(verificationID)")
        guard let lookups: [[UInt8]] = try proofs.first?.decode("email_lookups") else { return false }
        try await lockEmail(lookups)
        return try await db.execute(
            """
            WITH made AS (
                INSERT INTO users (id, email_sealed, display_name_sealed)
                SELECT account_id, email_sealed, display_name_sealed FROM email_verifications v
                WHERE id = \(verificationID) AND account_id = \(id) AND verified_at IS NOT NULL AND purpose IN ('registration', 'enrolment')
                  AND NOT EXISTS (SELECT FROM email_lookups l WHERE l.lookup = ANY(v.email_lookups))
                ON CONFLICT DO NOTHING
                RETURNING id)
            INSERT INTO email_lookups (lookup, user_id)
            SELECT unnest(v.email_lookups), made.id FROM made, email_verifications v WHERE v.id = \(verificationID)
            """) > 0
    }

    /// Serialises the transactions that give an account one of these lookups, until this one ends.
    ///
    /// Any two writers have at least one key in common, so they wait for each other.
    private func lockEmail(_ lookups: [[UInt8]]) async throws(PostgresError) {
        try await db.enqueue(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('email:' || encode(lookup, 'hex'), 0))
            FROM (SELECT unnest(\(lookups)) AS lookup ORDER BY lookup) sorted
            """)
    }

    /// Locks the relation of an e-mail to its account, or to no account, until the transaction ends. So writes that depend on a lookup of
    /// the e-mail come wholly before or wholly after a change. It takes as long with and without an account.
    public func hold(emailLookups: [[UInt8]]) async throws(PostgresError) {
        try await db.enqueue(
            """
            SELECT pg_advisory_xact_lock_shared(hashtextextended('email:' || encode(lookup, 'hex'), 0))
            FROM (SELECT unnest(\(emailLookups)) AS lookup ORDER BY lookup) sorted
            """)
    }

    /// Sets the e-mail of an account. Call in a transaction that holds ``SignInRepository/lock(of:)``: it locks the former e-mail as well,
    /// so that decisions on proofs of the former e-mail come wholly before or wholly after the change.
    ///
    /// - Returns: Whether the account exists and is not being erased.
    /// - Throws: `PostgresError` with a unique violation when the e-mail has an account.
    public func setEmail(_ email: SealedEmail, of id: UUID) async throws(PostgresError) -> Bool {
        let former = try await db.query("SELECT lookup FROM email_lookups WHERE user_id = \(id)").column("lookup", as: [UInt8].self)
        try await lockEmail(former + email.lookups)
        let changed = try await db.execute(
            """
            UPDATE users
            SET email_sealed = \(email.sealed),
                first_email_at = CASE WHEN email_sealed IS NULL THEN clock_timestamp() ELSE first_email_at END
            WHERE id = \(id) AND state = 'active'
            """)
        guard changed == 1 else { return false }
        try await db.enqueue("DELETE FROM email_lookups WHERE user_id = \(id)")
        try await db.execute("INSERT INTO email_lookups (lookup, user_id) SELECT unnest(\(email.lookups)), \(id)")
        return true
    }

    /// Gives the account of an e-mail, if there is one, the lookups that it lacks. Call in a transaction.
    ///
    /// An erasure finds the rows that were written under the e-mail by the lookups of the account. A change of the e-mail and this call
    /// wait for each other.
    public func add(emailLookups: [[UInt8]]) async throws(PostgresError) {
        try await db.enqueue(
            """
            INSERT INTO email_lookups (lookup, user_id)
            SELECT unnest(\(emailLookups)), id FROM (
                SELECT u.id FROM email_lookups l JOIN users u ON u.id = l.user_id WHERE l.lookup = ANY(\(emailLookups))
                LIMIT 1 FOR SHARE OF u, l) account
            ON CONFLICT DO NOTHING
            """)
    }

    /// Returns the user with this e-mail, if there is one.
    ///
    /// - Parameter emailLookups: The lookups of the e-mail under all keys: ``EmailAddress/lookups(under:)``.
    public func find(emailLookups: [[UInt8]]) async throws(PostgresError) -> User? {
        let query: PostgresQuery = """
            SELECT \(unescaped: User.columns) FROM users
            WHERE id = (SELECT user_id FROM email_lookups WHERE lookup = ANY(\(emailLookups)) LIMIT 1)
            """
        let rows = try await db.query(query.readOnly())
        return try rows.first.map(User.init(row:))
    }

    /// Returns the user with this id, if there is one.
    public func find(id: UUID) async throws(PostgresError) -> User? {
        let query: PostgresQuery = "SELECT \(unescaped: User.columns) FROM users WHERE id = \(id)"
        let rows = try await db.query(query.readOnly())
        return try rows.first.map(User.init(row:))
    }

    /// Returns the lookups of the e-mail that a verification has proven, if an account exists and still has that e-mail.
    ///
    /// Call in a transaction that holds ``SignInRepository/lock(of:)``, which a change of the e-mail holds too.
    public func lookupsProven(by verificationID: UUID, of id: UUID) async throws(PostgresError) -> [[UInt8]]? {
        let query: PostgresQuery = """
            SELECT v.email_lookups FROM users JOIN email_verifications v ON v.id = \(verificationID)
            WHERE users.id = \(id) AND users.state = 'active' AND v.verified_at IS NOT NULL
              AND EXISTS (SELECT FROM email_lookups l WHERE l.user_id = users.id AND l.lookup = ANY(v.email_lookups))
            """
        return try await db.query(query).first?.decode("email_lookups")
    }

    /// Returns whether an account that had no e-mail has got its first one since a time.
    public func hasGotFirstEmail(id: UUID, since time: Date) async throws(PostgresError) -> Bool {
        try await !db.query("SELECT FROM users WHERE id = \(id) AND first_email_at >= \(time)").isEmpty
    }

    /// Sets or removes (`nil`) the sealed name of a user that other users see.
    ///
    /// - Returns: Whether the user exists.
    public func setDisplayName(_ sealed: [UInt8]?, of id: UUID) async throws(PostgresError) -> Bool {
        try await db.execute("UPDATE users SET display_name_sealed = \(sealed) WHERE id = \(id)") == 1
    }
}
