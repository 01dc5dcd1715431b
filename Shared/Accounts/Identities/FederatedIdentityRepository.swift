public import FoundationEssentials
public import PostgresClient

/// Reads and writes `identities`.
public struct FederatedIdentityRepository: Sendable {
    /// The time for which tokens of sign-ins before the erasure of a person's account make no new one: 180 days.
    public static let erasedTime: Duration = .seconds(180 * 24 * 60 * 60)

    private let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns a person by the provider and the lookups of the provider's id for them.
    ///
    /// - Parameters:
    ///   - issuer: The provider, as tokens name it: 1 to 256 bytes.
    ///   - subjectLookups: The lookups of the provider's id under all keys: ``FederatedSubject/lookups(under:)``.
    ///   - installationKey: The installation that the request names, which counts only if it is registered to the account.
    public func find(
        issuer: String, subjectLookups: [[UInt8]], installationKey: [UInt8]?
    ) async throws(PostgresError) -> FederatedIdentity? {
        let query: PostgresQuery = """
            SELECT i.user_id, i.valid_after, EXISTS (
                SELECT FROM push_installs p WHERE p.installation_key = \(installationKey) AND p.user_id = i.user_id) AS has_installation
            FROM identities i WHERE i.issuer = \(issuer) AND i.subject_lookup = ANY(\(subjectLookups)) LIMIT 1
            """
        return try await db.query(query.readOnly()).first.map(FederatedIdentity.init(row:))
    }

    /// Creates an account for a person without one; returns the existing account otherwise.
    ///
    /// One statement, and so one transaction: concurrent callers get the same account, and no account without an identity is left. Do not
    /// call in a longer transaction.
    ///
    /// - Parameters:
    ///   - newID: The id of an account that is created.
    ///   - subjectSealed: The provider's id, sealed with `SealingContext.subject` of `newID`.
    ///   - signedInAt: The time of the sign-in: a sign-in before the erasure of the person's account creates no new account.
    /// - Returns: The person, and whether this call created the account; `nil` after an erasure.
    public func findOrCreate(
        issuer: String, subjectLookups: [[UInt8]], newID: UUID, subjectSealed: [UInt8], signedInAt: Date
    ) async throws(PostgresError) -> (identity: FederatedIdentity, isNew: Bool)? {
        // The identity refers to the account of the same statement: foreign keys are checked at its end. If another instance, which lacks a
        // key, makes the person at the same time, the other lookups are without an account, which the foreign key refuses.
        let made: PostgresRows?
        do throws(PostgresError) {
            made = try await db.query(
                """
                WITH made AS (
                    INSERT INTO identities (issuer, subject_lookup, user_id)
                    SELECT \(issuer), lookup, \(newID) FROM unnest(\(subjectLookups)) lookup
                    WHERE NOT EXISTS (
                        SELECT FROM erased_identities
                        WHERE issuer = \(issuer) AND subject_lookup = ANY(\(subjectLookups)) AND erased_at > \(signedInAt))
                      AND NOT EXISTS (SELECT FROM identities WHERE issuer = \(issuer) AND subject_lookup = ANY(\(subjectLookups)))
                    ORDER BY lookup
                    ON CONFLICT (issuer, subject_lookup) DO NOTHING
                    RETURNING user_id, valid_after
                ), account AS (
                    INSERT INTO users (id, subject_sealed)
                    SELECT \(newID), \(subjectSealed) WHERE (SELECT count(*) FROM made) = \(subjectLookups.count)
                )
                SELECT user_id, valid_after, false AS has_installation FROM made LIMIT 1
                """)
        } catch  where error.isForeignKeyViolation {
            made = nil
        }
        if let row = made?.first { return (try FederatedIdentity(row: row), true) }
        // Another transaction has committed the same person: the next snapshot sees that row.
        return try await find(issuer: issuer, subjectLookups: subjectLookups, installationKey: nil).map { ($0, false) }
    }

    /// Deletes the identities of at most `limit` persons whose account was erased more than ``erasedTime`` ago.
    ///
    /// - Returns: The number of deleted rows.
    @discardableResult
    public func deleteExpiredErased(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM erased_identities WHERE (issuer, subject_lookup) IN (
                SELECT issuer, subject_lookup FROM erased_identities
                WHERE erased_at <= now() - make_interval(secs => \(Self.erasedTime / .seconds(1)))
                ORDER BY erased_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
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
    /// - Returns: Whether the account has an identity.
    @discardableResult
    public func revokeAll(userID: UUID, before time: Date? = nil) async throws(PostgresError) -> Bool {
        // Not the time of the transaction, which may have waited for a lock.
        try await db.execute(
            """
            UPDATE identities SET valid_after = greatest(valid_after, coalesce(\(time)::timestamptz, clock_timestamp()))
            WHERE user_id = \(userID)
            """) > 0
    }
}
