public import FoundationEssentials
public import PostgresClient

/// Reads and writes `code_mails`: the sent and planned mails with codes.
///
/// A mail is planned with a request for a code, and published once: with that request, or, when its address or all addresses together
/// have to wait, by a poller. A transaction that changes a mail holds ``lock(_:)``, and locks the mail before its verifications.
public struct CodeMailRepository: Sendable {
    let db: any PostgresQueryable

    /// Works inside a transaction; ``deleteExpired(limit:)`` on a client, too.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Serialises the transactions that plan or publish a mail to the address, until this one ends.
    ///
    /// The order of locks is: wrong codes of a site, the mails of an address, ``FaceDuplicateRepository/lock()``, the sign-ins of an
    /// account, rows of mails, rows of verifications.
    public func lock(_ emailLookups: [[UInt8]]) async throws(PostgresError) {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('mails:' || encode(lookup, 'hex'), 0))
            FROM (SELECT unnest(\(emailLookups)) AS lookup ORDER BY lookup) sorted
            """)
    }

    /// Gives a request a place in the mail to its address that is planned, or plans one: as soon as ``CodeMailRules/ladderOfSite`` and
    /// ``CodeMailRules/ladderOfAll`` allow.
    ///
    /// The earliest site that may have a mail determines its time, and the site with the fewest recent mails its turn: requests of others
    /// must not delay the owner's.
    ///
    /// - Parameters:
    ///   - siteKey: See ``RequestOrigin/siteKey``.
    ///   - isProven: See ``EmailVerification/isProven``.
    func place(
        for emailLookups: [[UInt8]], siteKey: [UInt8]?, isProven: Bool, requestID: String?, traceparent: String?
    ) async throws(PostgresError) -> CodeMail {
        let row = try await db.query(
            """
            WITH given AS (
                SELECT asked.site_key, greatest(
                    now(),
                    max(s.requested_at) + CASE WHEN count(s.id) \(unescaped: Self.ofSite) = 0
                                               THEN \(unescaped: Self.wait(CodeMailRules.ladderOfNewSite))
                                               ELSE \(unescaped: Self.wait(CodeMailRules.ladderOfAll)) END,
                    max(s.requested_at) \(unescaped: Self.ofSite) + \(unescaped: Self.wait(CodeMailRules.ladderOfSite, Self.ofSite)))
                    AS due_at
                FROM (SELECT \(siteKey)::bytea AS site_key) asked LEFT JOIN code_mails s
                    ON s.email_lookups && \(emailLookups) AND s.requested_at > now() - \(unescaped: Self.day)
                GROUP BY asked.site_key),
            planned AS (
                UPDATE code_mails m SET is_proven = m.is_proven OR \(isProven), due_at = least(m.due_at, given.due_at),
                    site_key = CASE WHEN \(unescaped: Self.mails(of: "given.site_key")) < \(unescaped: Self.mails(of: "m.site_key"))
                                    THEN given.site_key ELSE m.site_key END
                FROM given WHERE m.email_lookups && \(emailLookups) AND m.requested_at IS NULL
                RETURNING m.id, m.due_at),
            made AS (
                INSERT INTO code_mails (id, email_lookups, site_key, is_proven, due_at, request_id, traceparent)
                SELECT \(UUID()), \(emailLookups), site_key, \(isProven), due_at, \(requestID), \(traceparent)
                FROM given WHERE NOT EXISTS (SELECT FROM planned)
                RETURNING id, due_at)
            SELECT id, due_at <= now() AS is_due FROM (SELECT * FROM planned UNION ALL SELECT * FROM made) mail
            """
        ).required()
        return try CodeMail(row: row)
    }

    /// Publishes a mail: each request with a place in it gets a code, with a lifetime that begins now, and the other waiting requests get a
    /// place in the next mail. Call in a transaction that publishes the event too, and holds the lock of the address: by planning the mail,
    /// or by ``takeDue(perMinute:limit:)``.
    ///
    /// - Returns: The mail; nil when it was published before, or has no open request any more.
    public func publish(_ id: UUID) async throws(PostgresError) -> PublishedCodeMail? {
        let rows = try await db.query(
            """
            UPDATE code_mails SET requested_at = now() WHERE id = \(id) AND requested_at IS NULL
            RETURNING email_lookups, request_id, traceparent
            """)
        guard let row = rows.first else { return nil }
        let lookups: [[UInt8]] = try row.decode("email_lookups")
        guard try await EmailVerificationRepository(db).giveCodes(to: lookups, in: id) > 0 else {
            // No mail is sent, so it must not count.
            try await db.execute("DELETE FROM code_mails WHERE id = \(id)")
            return nil
        }
        let mail = PublishedCodeMail(id: id, requestID: try row.decode("request_id"), traceparent: try row.decode("traceparent"))
        // Each site, because the one that may have a mail first determines the time of the next mail.
        let left = try await db.query(
            """
            SELECT site_key, bool_or(is_proven) AS is_proven FROM email_verifications
            WHERE email_lookups && \(lookups) AND asked_at IS NOT NULL AND \(unescaped: EmailVerificationRepository.isOpen)
            GROUP BY site_key ORDER BY bool_or(is_proven) DESC, max(asked_at) DESC LIMIT \(CodeMailRules.maxRequests)
            """)
        for site in left {
            _ = try await place(
                for: lookups, siteKey: site.decode("site_key"), isProven: site.decode("is_proven"), requestID: mail.requestID,
                traceparent: mail.traceparent)
        }
        return mail
    }

    /// Deletes at most `limit` mails that are a day old, and plans that no request of the day needs.
    ///
    /// - Returns: The number of deleted mails.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM code_mails WHERE id IN (
                SELECT id FROM code_mails WHERE created_at <= now() - 2 * \(unescaped: Self.day)
                    OR (created_at <= now() - \(unescaped: Self.day) AND requested_at <= now() - \(unescaped: Self.day))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }

    private static let day = "interval '24 hours'"
    static let totalWindow = "interval '\(CodeMailRules.totalWindow.components.seconds) seconds'"
    static let turnWindow = "interval '\(CodeMailRules.turnWindow.components.seconds) seconds'"

    /// SQL expression: the mails of a site that count for its turn.
    static func mails(of site: String) -> String {
        "(SELECT count(*) FROM code_mails o WHERE o.site_key = \(site) AND o.requested_at > now() - \(turnWindow))"
    }

    /// SQL expression: the time between the last of the mails `s` that a filter leaves and the next one.
    private static func wait(_ ladder: [(mails: Int, wait: Duration)], _ filter: String = "") -> String {
        "CASE "
            + ladder.map { step in
                let wait = "interval '\(step.wait.components.seconds) seconds' "
                return step.mails == .max ? "ELSE \(wait)" : "WHEN count(s.id) \(filter) <= \(step.mails) THEN \(wait)"
            }.joined() + "END"
    }

    /// SQL filter: the mails `s` of the site that asks.
    private static let ofSite = "FILTER (WHERE s.site_key IS NOT DISTINCT FROM asked.site_key)"
}
