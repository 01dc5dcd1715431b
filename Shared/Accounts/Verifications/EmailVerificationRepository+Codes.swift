public import FoundationEssentials
public import PostgresClient

/// The codes of verifications, and their places in the mails of ``CodeMailRepository``.
extension EmailVerificationRepository {
    /// Inserts a verification, which waits for the next mail to its address. Call in a transaction.
    ///
    /// Executes the same statements whether the address has an account or not. Before the mail is published it has no code and no attempts:
    /// a code must not be guessed before it is mailed.
    ///
    /// - Returns: The mail, for ``CodeMailRepository/admits(_:perMinute:)``.
    public func insert(_ new: NewEmailVerification) async throws(PostgresError) -> CodeMail {
        let (lookups, mails) = (new.email.lookups, CodeMailRepository(db))
        let choices = (0..<Self.referenceChoices).map { _ in CodeReference.random() }
        try await mails.lock(lookups)
        let row = try await db.query(
            """
            INSERT INTO email_verifications (id, purpose, account_id, sign_in_id, email_lookups, email_sealed, display_name_sealed,
                                             address_key, site_key, reference, is_proven)
            SELECT \(new.id), \(new.purpose.rawValue), \(new.accountID), \(new.signInID), \(lookups), \(new.email.sealed),
                   \(new.displayNameSealed), \(new.origin.addressKey), \(new.origin.siteKey), (
                SELECT choice FROM unnest(\(choices)) AS choice
                ORDER BY EXISTS (SELECT FROM email_verifications o
                                 WHERE o.email_lookups && \(lookups) AND o.verified_at IS NULL AND o.reference = choice)
                LIMIT 1), \(new.purpose == .emailChange)
                OR EXISTS (SELECT FROM email_verifications o WHERE o.email_lookups && \(lookups) AND o.verified_at IS NOT NULL
                           AND o.address_key = \(new.origin.addressKey))
                OR EXISTS (SELECT FROM sessions WHERE attempt_key = ANY(\(lookups.map(AttemptKey.derive(from:)))) AND event = 'sign_in'
                           AND state = 'succeeded' AND redeemed_at IS NOT NULL AND address_key = \(new.origin.addressKey))
            RETURNING is_proven
            """
        ).required()
        return try await mails.place(
            for: lookups, siteKey: new.origin.siteKey, isProven: row.decode("is_proven"), requestID: new.requestID,
            traceparent: new.traceparent)
    }

    /// Deletes the oldest requests of a client address for an e-mail that wait for their first mail, beyond the number of places in a mail,
    /// and those of its site beyond four times as many; those of sign-ups with the faces that wait for them. Every request for the e-mail
    /// reads them, so a stranger could otherwise make these requests slow.
    ///
    /// Registrations and sign-ups do not displace each other. Requests of clients that have proven the e-mail before are counted apart:
    /// neighbours without a proof do not displace them.
    ///
    /// Call in the transaction of ``insert(_:)``, before it.
    public func deleteSurplus(before new: NewEmailVerification) async throws(PostgresError) {
        try await CodeMailRepository(db).lock(new.email.lookups)
        // The mail is locked before the verifications, as by all who lock both.
        try await db.execute("SELECT FROM code_mails WHERE email_lookups && \(new.email.lookups) AND requested_at IS NULL FOR UPDATE")
        try await db.execute(
            """
            WITH surplus AS (DELETE FROM email_verifications WHERE id IN (
                SELECT id FROM (
                    SELECT id, row_number() OVER (PARTITION BY is_proven ORDER BY created_at DESC, id) AS of_site,
                        row_number() OVER (PARTITION BY is_proven, address_key ORDER BY created_at DESC, id) AS of_address,
                        address_key IS NOT DISTINCT FROM \(new.origin.addressKey) AS is_own
                    FROM email_verifications
                    WHERE email_lookups && \(new.email.lookups) AND site_key IS NOT DISTINCT FROM \(new.origin.siteKey)
                      AND purpose = \(new.purpose.rawValue) AND verified_at IS NULL AND mailed_at IS NULL AND denied_at IS NULL) waiting
                WHERE (is_own AND of_address >= \(CodeMailRules.maxRequests))
                    OR of_site >= \(CodeMailRules.maxRequests * RequestOrigin.addressesOfSite)) RETURNING id)
            DELETE FROM pending_enrolments WHERE id IN (SELECT id FROM surplus) AND due_at IS NULL
            """)
    }

    /// Asks for another code of a verification that is not proven, in the next mail to its address. Call in a transaction.
    ///
    /// - Returns: The mail; nil when it waits for a mail already, or may not ask now: ``times(id:)`` says when it may.
    public func askAgain(id: UUID, requestID: String?, traceparent: String?) async throws(PostgresError) -> CodeMail? {
        let mails = CodeMailRepository(db)
        let found = try await db.query("SELECT email_lookups, site_key, is_proven FROM email_verifications WHERE id = \(id)")
        guard let row = found.first else { return nil }
        let lookups: [[UInt8]] = try row.decode("email_lookups")
        try await mails.lock(lookups)
        let mayAsk = try await db.query("SELECT FROM email_verifications WHERE id = \(id) AND \(unescaped: Self.mayAsk)")
        guard !mayAsk.isEmpty else { return nil }
        // The mail is locked before the verification: a transaction that publishes the mail locks the rows in this order.
        let mail = try await mails.place(
            for: lookups, siteKey: row.decode("site_key"), isProven: row.decode("is_proven"), requestID: requestID,
            traceparent: traceparent)
        try await db.execute(
            "UPDATE email_verifications SET asked_at = now() WHERE id = \(id) AND verified_at IS NULL AND denied_at IS NULL")
        return mail
    }

    /// Gives the requests with a place in a mail their codes: waiting requests get another code, and requests whose code can still be
    /// entered keep it. Call for ``CodeMailRepository/publish(_:)``.
    ///
    /// Proven requests come first; then one of each site: the two that have waited longest, then those of sites with the fewest codes of
    /// the day, of these alternately the newest and the one that has waited longest. A stranger with one site gets one place. Many sites
    /// delay a request without a proof, and do not exclude it: in the end it has waited longest.
    ///
    /// - Returns: The number of requests.
    func giveCodes(to emailLookups: [[UInt8]], in mail: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            WITH of_day AS (
                SELECT *, sum(code_number) OVER (PARTITION BY is_proven, site_key) AS codes_of_site FROM email_verifications
                WHERE email_lookups && \(emailLookups) AND \(unescaped: Self.isOfTheDay)),
            of_sites AS (
                SELECT id, purpose, codes_of_site, asked_at, mailed_at, coalesce(asked_at, mailed_at) AS at,
                    is_proven AND row_number() OVER (PARTITION BY is_proven ORDER BY coalesce(asked_at, mailed_at) DESC, id)
                        <= \(CodeMailRules.provenPlaces) AS is_proven,
                    row_number() OVER (PARTITION BY is_proven, site_key ORDER BY coalesce(asked_at, mailed_at) DESC, id) AS of_site
                FROM of_day WHERE \(unescaped: Self.isOpen)),
            ranked AS (
                SELECT id, purpose, codes_of_site, is_proven, of_site,
                    row_number() OVER (PARTITION BY is_proven, of_site ORDER BY at DESC, id) AS newest,
                    row_number() OVER (PARTITION BY is_proven, of_site ORDER BY asked_at IS NULL, mailed_at NULLS FIRST, at, id) AS oldest
                FROM of_sites),
            places AS (
                SELECT id, purpose FROM ranked
                ORDER BY is_proven DESC, of_site, oldest > 2, codes_of_site, least(newest, 2 * oldest), newest
                LIMIT \(CodeMailRules.maxRequests)),
            given AS (SELECT id, purpose = 'email_change'
                          OR count(*) FILTER (WHERE purpose <> 'email_change') OVER () <= \(CodeMailRules.fewRequests) AS has_all
                      FROM places)
            UPDATE email_verifications v
            SET code_mail_id = \(mail), asked_at = NULL, code_number = code_number + (asked_at IS NOT NULL)::int,
                attempts_left = CASE WHEN asked_at IS NULL THEN attempts_left WHEN given.has_all THEN \(Int32(Self.maxAttempts))
                                     ELSE \(Int32(CodeMailRules.sharedAttempts)) END,
                mailed_at = CASE WHEN asked_at IS NULL THEN mailed_at ELSE now() END,
                code_expires_at = CASE WHEN asked_at IS NULL THEN code_expires_at ELSE
                                       now() + make_interval(secs => \(Self.codeLifetime / .seconds(1))) END
            FROM given WHERE v.id = given.id AND v.verified_at IS NULL AND v.denied_at IS NULL
            """)
    }

    /// Returns the requests whose codes are in a mail, and can be entered; the newest first.
    public func requests(in mail: UUID) async throws(PostgresError) -> [EmailVerification] {
        try await db.query(
            """
            SELECT v.* FROM code_mails m JOIN email_verifications v ON v.email_lookups && m.email_lookups AND v.code_mail_id = m.id
            WHERE m.id = \(mail) AND v.verified_at IS NULL AND v.denied_at IS NULL AND v.code_expires_at > now()
            ORDER BY v.mailed_at DESC, v.created_at DESC, v.id
            """
        ).map(EmailVerification.init(row:))
    }

    /// Returns the reference of a verification, when its next mail comes, and until when its code can be entered; nil when it is
    /// unknown, proven, denied, or older than ``lifetime``.
    ///
    /// Call in the transaction of ``insert(_:)`` or ``askAgain(id:requestID:traceparent:)``, after the mail was published if it was.
    public func times(id: UUID) async throws(PostgresError) -> CodeTimes? {
        let rows = try await db.query(
            """
            SELECT reference, code_number, asked_at IS NOT NULL AS waits,
                CASE WHEN attempts_left > 0 THEN extract(epoch FROM code_expires_at - now())::float8 END AS left_seconds,
                extract(epoch FROM mailed_at + make_interval(secs => \(Self.codeInterval / .seconds(1))) - now())::float8 AS resend_seconds,
                (SELECT extract(epoch FROM m.due_at - now())::float8 FROM code_mails m
                 WHERE m.email_lookups && v.email_lookups AND m.requested_at IS NULL LIMIT 1) AS mail_seconds
            FROM email_verifications v
            WHERE id = \(id) AND verified_at IS NULL AND denied_at IS NULL AND \(unescaped: Self.isOfTheDay)
            """)
        return try rows.first.map(CodeTimes.init(row:))
    }

    /// SQL condition: a verification has a code that can be entered, or waits for one.
    static let isOpen = """
        verified_at IS NULL AND \(isOfTheDay) AND (asked_at IS NOT NULL OR (attempts_left > 0 AND code_expires_at > now()))
        """
    private static let isOfTheDay = "created_at > now() - interval '\(lifetime.components.seconds) seconds'"
    private static let mayAsk = """
        verified_at IS NULL AND denied_at IS NULL AND \(isOfTheDay) AND asked_at IS NULL AND code_number < \(maxCodes)
        AND mailed_at <= now() - interval '\(codeInterval.components.seconds) seconds'
        """
    /// The number of references that are drawn at random. The request gets one that no open request of the address has.
    private static let referenceChoices = 4
}
