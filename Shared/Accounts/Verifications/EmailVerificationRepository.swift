public import FoundationEssentials
public import PostgresClient

/// Reads and writes `email_verifications`.
public struct EmailVerificationRepository: Sendable {
    /// The time for which a code is valid, from its mail: 10 minutes.
    public static let codeLifetime: Duration = .seconds(10 * 60)
    /// The attempts to enter a code.
    public static let maxAttempts = 5
    /// The maximum number of codes of a verification; only the newest is valid.
    public static let maxCodes = 5
    /// The shortest time between two codes of one verification: a minute.
    public static let codeInterval: Duration = .seconds(60)
    /// The changes of its e-mail that an account asks for in 24 hours.
    public static let maxChangesPerDay = 5
    /// The time for which an enrolment token is valid, from the proof: 15 minutes.
    public static let tokenLifetime: Duration = .seconds(15 * 60)
    /// The time for which a row is kept, and a face waits for its verification: 24 hours.
    public static let lifetime: Duration = .seconds(24 * 60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Returns a verification.
    public func find(id: UUID) async throws(PostgresError) -> EmailVerification? {
        let query: PostgresQuery = "SELECT * FROM email_verifications WHERE id = \(id)"
        return try await db.query(query.readOnly()).first.map(EmailVerification.init(row:))
    }

    /// Returns the proven verification of an enrolment token that is valid.
    public func find(tokenHash: [UInt8]) async throws(PostgresError) -> EmailVerification? {
        let query: PostgresQuery = """
            SELECT * FROM email_verifications
            WHERE token_hash = \(tokenHash) AND verified_at > now() - make_interval(secs => \(Self.tokenLifetime / .seconds(1)))
            """
        return try await db.query(query.readOnly()).first.map(EmailVerification.init(row:))
    }

    /// Takes one of the attempts to enter the code, and locks the verification until the transaction ends.
    ///
    /// Commit the transaction when the code is wrong, too: a rollback would give the attempt back.
    ///
    /// - Returns: The verification; `nil` when it is unknown, its code has expired, or no attempt is left.
    public func takeAttempt(id: UUID) async throws(PostgresError) -> EmailVerification? {
        let rows = try await db.query(
            """
            UPDATE email_verifications SET attempts_left = attempts_left - 1
            WHERE id = \(id) AND attempts_left > 0 AND code_expires_at > now() RETURNING *
            """)
        return try rows.first.map(EmailVerification.init(row:))
    }

    /// Records the proof; a repetition changes nothing.
    ///
    /// - Parameters:
    ///   - tokenHash: SHA-256 of the enrolment token; 32 bytes, `nil` for a verification that gives no token.
    ///   - formerEmail: The e-mail that a change replaces.
    /// - Returns: The time and the token hash of the first call.
    public func verify(
        id: UUID, tokenHash: [UInt8]? = nil, replacing formerEmail: SealedEmail? = nil
    ) async throws(PostgresError) -> (verifiedAt: Date, tokenHash: [UInt8]?) {
        let row = try await db.query(
            """
            UPDATE email_verifications SET verified_at = coalesce(verified_at, now()), token_hash = coalesce(token_hash, \(tokenHash)),
                former_email_lookups = \(formerEmail?.lookups), former_email_sealed = \(formerEmail?.sealed)
            WHERE id = \(id) RETURNING verified_at, token_hash
            """
        ).required()
        return (try row.decode("verified_at"), try row.decode("token_hash"))
    }

    /// Deletes at most `limit` verifications older than ``lifetime``.
    ///
    /// - Returns: The number of deleted verifications.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM email_verifications WHERE id IN (
                SELECT id FROM email_verifications WHERE created_at <= now() - make_interval(secs => \(Self.lifetime / .seconds(1)))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }

    /// Returns the time until an account may ask for another change of its e-mail; nil below ``maxChangesPerDay``.
    public func changeWait(of accountID: UUID) async throws(PostgresError) -> Duration? {
        let rows = try await db.query(
            """
            SELECT extract(epoch FROM created_at + interval '24 hours' - now())::float8 AS wait FROM email_verifications
            WHERE account_id = \(accountID) AND purpose = 'email_change' AND created_at > now() - interval '24 hours'
            ORDER BY created_at DESC OFFSET \(Self.maxChangesPerDay - 1) LIMIT 1
            """)
        return try rows.first.map { row throws(PostgresError) in .seconds(max(1, try row.decode("wait", as: Double.self))) }
    }
}
