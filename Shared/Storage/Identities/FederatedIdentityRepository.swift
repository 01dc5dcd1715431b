public import FoundationEssentials
public import PostgresClient

/// Reads and writes `identities`.
public struct FederatedIdentityRepository: Sendable {
    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns a person by the provider and the keyed hash of the provider's id for them.
    ///
    /// - Parameters:
    ///   - issuer: The provider, as tokens name it: 1 to 256 bytes.
    ///   - subjectLookup: HMAC-SHA256 of the provider's id; 32 bytes.
    ///   - installationKey: The installation that the request names, which counts only if it is registered to the account.
    public func find(
        issuer: String, subjectLookup: [UInt8], installationKey: [UInt8]?
    ) async throws(PostgresError) -> FederatedIdentity? {
        let query: PostgresQuery = """
            SELECT i.user_id, i.valid_after, EXISTS (
                SELECT FROM push_installs p WHERE p.installation_key = \(installationKey) AND p.user_id = i.user_id) AS has_installation
            FROM identities i WHERE i.issuer = \(issuer) AND i.subject_lookup = \(subjectLookup)
            """
        return try await db.query(query.readOnly()).first.map(FederatedIdentity.init(row:))
    }

    /// Creates an account for a person who has none, with a random id; returns the existing one otherwise.
    ///
    /// One statement, and so one transaction: concurrent callers get the same account, and no account without an identity is left.
    ///
    /// - Parameter signedInAt: The time of the sign-in: one before the erasure of the person's account creates no other one.
    /// - Returns: The person, and whether this call created the account; `nil` after an erasure.
    public func findOrCreate(
        issuer: String, subjectLookup: [UInt8], signedInAt: Date
    ) async throws(PostgresError) -> (identity: FederatedIdentity, isNew: Bool)? {
        // The identity refers to the account of the same statement: foreign keys are checked at its end.
        let made = try await db.query(
            """
            WITH made AS (
                INSERT INTO identities (issuer, subject_lookup, user_id)
                SELECT \(issuer), \(subjectLookup), \(UUID()) WHERE NOT EXISTS (
                    SELECT FROM erased_identities
                    WHERE issuer = \(issuer) AND subject_lookup = \(subjectLookup) AND erased_at > \(signedInAt))
                ON CONFLICT (issuer, subject_lookup) DO NOTHING
                RETURNING user_id, valid_after
            ), account AS (
                INSERT INTO users (id) SELECT user_id FROM made
            )
            SELECT user_id, valid_after, false AS has_installation FROM made
            """)
        if let row = made.first { return (try FederatedIdentity(row: row), true) }
        // Another transaction has committed the same person: the next snapshot sees that row.
        return try await find(issuer: issuer, subjectLookup: subjectLookup, installationKey: nil).map { ($0, false) }
    }

    /// Returns whether no sign-in of an account with identity providers was revoked since a time, and keeps it so until the transaction
    /// ends: a revocation waits.
    public func hold(signInsOf userID: UUID, since time: Date) async throws(PostgresError) -> Bool {
        let rows = try await db.query(
            "SELECT coalesce(valid_after > \(time), false) AS is_revoked FROM identities WHERE user_id = \(userID) FOR SHARE")
        return try !rows.column("is_revoked").contains(true)
    }

    /// Revokes the sign-ins of an account with identity providers before a time: their tokens are refused.
    ///
    /// A provider's times are whole seconds, so a sign-in in the same second as a revocation is revoked as well.
    ///
    /// - Parameter time: `nil` for now.
    /// - Returns: The number of identities.
    @discardableResult
    public func revokeAll(userID: UUID, before time: Date? = nil) async throws(PostgresError) -> Int {
        try await db.execute(
            "UPDATE identities SET valid_after = greatest(valid_after, coalesce(\(time)::timestamptz, now())) WHERE user_id = \(userID)")
    }
}
