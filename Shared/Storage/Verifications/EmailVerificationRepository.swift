public import FoundationEssentials
public import PostgresClient

/// Reads and writes `email_verifications`.
public struct EmailVerificationRepository: Sendable {
    /// The time for which a code is valid: 10 minutes.
    public static let codeLifetime: Duration = .seconds(10 * 60)
    /// The attempts to enter a code.
    public static let maxAttempts = 5
    /// The codes that one verification may have, of which only the newest is valid.
    public static let maxCodes = 5
    /// The shortest time between two codes of one verification: a minute.
    public static let codeInterval: Duration = .seconds(60)
    /// The mails that an address gets in 24 hours, over all verifications: its owner may have asked for none.
    public static let maxMailsPerDay = 30
    /// Those of them that one client address asks for: a stranger must not use up the mails of the owner.
    public static let maxMailsPerRequester = 6
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

    /// Inserts a verification with its first code. Call in a transaction, with the request for the mail.
    ///
    /// Executes the same statements whether the address has an account or not.
    ///
    /// - Returns: Whether to mail the code; `false` when the address had ``maxMailsPerDay``, or ``maxMailsPerRequester`` for this client,
    ///   and then the code cannot be entered.
    public func insert(_ new: NewEmailVerification) async throws(PostgresError) -> Bool {
        let isMailed = try await lockRoom(for: new.email.lookups, askedBy: new.addressKey)
        // A code that was not mailed must not be guessed either: the mails of a day bound the attempts of a day.
        let attempts = Int32(isMailed ? Self.maxAttempts : 0)
        try await db.execute(
            """
            INSERT INTO email_verifications (id, purpose, account_id, sign_in_id, email_lookups, email_sealed, display_name_sealed,
                                             address_key, attempts_left, code_expires_at, mailed_at)
            VALUES (\(new.id), \(new.purpose.rawValue), \(new.accountID), \(new.signInID), \(new.email.lookups), \(new.email.sealed),
                    \(new.displayNameSealed), \(new.addressKey), \(attempts),
                    now() + make_interval(secs => \(Self.codeLifetime / .seconds(1))), CASE WHEN \(isMailed) THEN now() END)
            """)
        return isMailed
    }

    /// Replaces the code of a verification that is not proven, if a mail may be sent for it now. Call in a transaction, with the
    /// request for the mail.
    ///
    /// - Returns: Whether to mail the code; ``times(id:)`` says when one can be, if not.
    public func renewCode(id: UUID) async throws(PostgresError) -> Bool {
        let found = try await db.query("SELECT email_lookups, address_key FROM email_verifications WHERE id = \(id)")
        guard let row = found.first, try await lockRoom(for: row.decode("email_lookups"), askedBy: row.decode("address_key")) else {
            return false
        }
        return try await db.execute(
            """
            UPDATE email_verifications
            SET code_number = code_number + 1, attempts_left = \(Int32(Self.maxAttempts)), mailed_at = now(),
                code_expires_at = now() + make_interval(secs => \(Self.codeLifetime / .seconds(1)))
            WHERE id = \(id) AND verified_at IS NULL AND code_number < \(Self.maxCodes)
              AND created_at > now() - make_interval(secs => \(Self.lifetime / .seconds(1)))
              AND coalesce(mailed_at, created_at) <= now() - make_interval(secs => \(Self.codeInterval / .seconds(1)))
            """) == 1
    }

    /// Returns until when the code of a verification can be entered, and when the next mail can be sent; nil when the verification is
    /// unknown, proven, or older than ``lifetime``.
    ///
    /// Call in the transaction of ``insert(_:)`` or ``renewCode(id:)``, so that its mail counts.
    public func times(id: UUID) async throws(PostgresError) -> CodeTimes? {
        let rows = try await db.query(
            """
            SELECT v.code_number,
                CASE WHEN v.attempts_left > 0 THEN extract(epoch FROM v.code_expires_at - now())::float8 ELSE 0 END AS left,
                greatest(extract(epoch FROM coalesce(v.mailed_at, v.created_at)
                                 + make_interval(secs => \(Self.codeInterval / .seconds(1))) - now())::float8,
                         \(unescaped: Self.roomWait)) AS wait
            FROM email_verifications v
            WHERE v.id = \(id) AND v.verified_at IS NULL
              AND v.created_at > now() - make_interval(secs => \(Self.lifetime / .seconds(1)))
            """)
        return try rows.first.map(CodeTimes.init(row:))
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
    ///   - tokenHash: SHA-256 of the enrolment token; 32 bytes, `nil` for a verification that gives none.
    ///   - formerEmail: The e-mail that a change replaces.
    /// - Returns: The time of the proof, and the hash of the token of the first time.
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

    /// Returns whether an address may get another mail that a client asks for, and blocks others until the transaction ends: two
    /// concurrent counts would both find room.
    private func lockRoom(for emailLookups: [[UInt8]], askedBy addressKey: [UInt8]?) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('mails:' || encode(lookup, 'hex'), 0))
            FROM (SELECT unnest(\(emailLookups)) AS lookup ORDER BY lookup) sorted
            """)
        return try await db.query(
            """
            SELECT \(unescaped: Self.roomWait) IS NULL AS has_room
            FROM (SELECT \(emailLookups)::bytea[] AS email_lookups, \(addressKey)::bytea AS address_key) v
            """
        ).required().decode("has_room")
    }

    /// SQL expression: the seconds until the address of `v` may get another mail that the client of `v` asks for; NULL when it may now.
    ///
    /// Counted from the newest, the verification that reaches a limit must become a day old first.
    private static let roomWait = """
        (SELECT max(extract(epoch FROM created_at + interval '24 hours' - now())::float8) FROM (
            SELECT m.created_at, sum(m.code_number) OVER newest AS mails,
                sum(m.code_number) FILTER (WHERE m.address_key IS NOT DISTINCT FROM v.address_key) OVER newest AS own
            FROM email_verifications m
            WHERE m.email_lookups && v.email_lookups AND m.mailed_at IS NOT NULL AND m.created_at > now() - interval '24 hours'
            WINDOW newest AS (ORDER BY m.created_at DESC, m.id)) counted
         WHERE mails >= \(maxMailsPerDay) OR own >= \(maxMailsPerRequester))
        """
}
