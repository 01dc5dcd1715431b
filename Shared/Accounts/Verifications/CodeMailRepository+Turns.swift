public import FoundationEssentials
public import PostgresClient

/// The order in which due mails are published under the total limit.
extension CodeMailRepository {
    /// Returns whether a mail that is due may be published at once: all mails together are below their total, and no other one waits for
    /// its turn, or it is proven and its site had few mails lately.
    ///
    /// - Parameter perMinute: The total; 0 is no limit.
    public func admits(_ mail: CodeMail, perMinute: Int) async throws(PostgresError) -> Bool {
        guard mail.isDue else { return false }
        guard let room = CodeMailRules.room(perMinute: perMinute) else { return true }
        return try await db.query(
            """
            SELECT (SELECT count(*) FROM (SELECT FROM code_mails WHERE requested_at > now() - \(unescaped: Self.totalWindow)
                                          LIMIT \(room)) recent) < \(room)
                AND (NOT EXISTS (SELECT FROM code_mails WHERE requested_at IS NULL AND due_at <= now() AND id <> \(mail.id))
                    OR EXISTS (SELECT FROM code_mails m WHERE id = \(mail.id) AND is_proven
                               AND \(unescaped: Self.mails(of: "m.site_key")) < \(CodeMailRules.maxPassing))) AS is_admitted
            """
        ).required().decode("is_admitted")
    }

    /// Returns whether a site has ``CodeMailRules/maxWaitingOfSite`` mails that are due and wait for their turn.
    public func isBacklogged(_ siteKey: [UInt8]?) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = """
            SELECT FROM code_mails WHERE site_key = \(siteKey) AND requested_at IS NULL AND due_at <= now()
            OFFSET \(CodeMailRules.maxWaitingOfSite - 1) LIMIT 1
            """
        return try await !db.query(query.readOnly()).isEmpty
    }

    /// The mails that are due, and have their turn.
    public struct Due: Sendable, Equatable {
        /// The mails that the total admits, in the order of their turns; this transaction holds the locks of their addresses.
        public let ids: [UUID]
        /// Whether the total holds others back.
        public let isHeldBack: Bool
    }

    /// Takes the mails that are due and that the total admits: the sites have turns, the one with the fewest mails in
    /// ``CodeMailRules/turnWindow`` first, and of one turn those with a proven request. So a flood of requests from some sites waits, even
    /// for addresses that the sender has proven, and the mails of other sites do not.
    ///
    /// Call in the transaction that publishes them. Only one transaction takes mails at a time, so that the total holds over all instances.
    /// Other transactions take none, and mails with a locked address wait for the next turn.
    ///
    /// - Parameter perMinute: The total; 0 is no limit.
    public func takeDue(perMinute: Int, limit: Int) async throws(PostgresError) -> Due {
        let none = Due(ids: [], isHeldBack: false)
        // Looked for without a lock first: mostly no mail is due.
        guard try await !db.query("SELECT FROM code_mails WHERE requested_at IS NULL AND due_at <= now() LIMIT 1").isEmpty,
            try await db.query("SELECT pg_try_advisory_xact_lock(hashtextextended('code_mails', 0)) AS is_held").required()
                .decode("is_held")
        else { return none }
        let rows = try await db.query(
            """
            WITH sent AS (SELECT site_key, count(*) AS mails FROM code_mails WHERE requested_at > now() - \(unescaped: Self.turnWindow)
                          GROUP BY site_key),
            due AS (
                SELECT m.id, m.email_lookups, m.is_proven, m.due_at, count(*) OVER () AS number, coalesce(s.mails, 0)
                    + row_number() OVER (PARTITION BY m.site_key ORDER BY m.is_proven DESC, m.due_at, m.id) AS turn
                FROM code_mails m LEFT JOIN sent s ON s.site_key = m.site_key WHERE m.requested_at IS NULL AND m.due_at <= now())
            SELECT id, email_lookups, number FROM due ORDER BY turn, is_proven DESC, due_at, id
            LIMIT least(\(limit), greatest(0, \(CodeMailRules.room(perMinute: perMinute) ?? .max) - (
                SELECT count(*) FROM code_mails WHERE requested_at > now() - \(unescaped: Self.totalWindow))))
            """)
        var ids: [UUID] = []
        for row in rows where try await tryLock(row.decode("email_lookups")) { ids.append(try row.decode("id")) }
        let number = try rows.first?.decode("number", as: Int64.self) ?? 1
        return Due(ids: ids, isHeldBack: rows.count < limit && rows.count < number)
    }

    /// Takes the lock of an address, if no other transaction holds it. Waiting could deadlock: the holder may wait for a row of another
    /// mail.
    private func tryLock(_ emailLookups: [[UInt8]]) async throws(PostgresError) -> Bool {
        try await db.query(
            """
            SELECT bool_and(pg_try_advisory_xact_lock(hashtextextended('mails:' || encode(lookup, 'hex'), 0))) AS is_held
            FROM unnest(\(emailLookups)) AS lookup
            """
        ).required().decode("is_held")
    }
}
