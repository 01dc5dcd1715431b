public import FoundationEssentials
public import PostgresClient

/// The limits of wrong codes in an hour, over all addresses.
public struct WrongCodeLimits: Sendable, Equatable {
    /// All wrong codes; 0 is no limit. Guesses on many addresses, from many places, show only here.
    public var total = 1_000

    /// The most wrong codes of one site that count, so that ``total`` measures how many places they come from.
    public static let perSiteInTotal = 10
    /// The wrong codes that a site enters while the total is reached: a person mistypes one, and another.
    public static let freeOfSite = 2

    /// The standard limits.
    public init() {}
}

/// Reads and writes `wrong_codes`.
public struct WrongCodeRepository: Sendable {
    /// The time for which a wrong code counts: one hour.
    public static let lifetime: Duration = .seconds(60 * 60)

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Serialises the codes of a site until the transaction ends: concurrent ones would all pass ``wait(of:entering:limits:)``. Call before
    /// other locks.
    public func lock(_ siteKey: [UInt8]) async throws(PostgresError) {
        try await db.execute(
            """
            SELECT pg_advisory_xact_lock(hashtextextended('wrong_codes:' || encode(site_key, 'hex'), 0))
            FROM (SELECT \(siteKey)::bytea AS site_key) site
            """)
    }

    /// Counts a wrong code of a site, up to ``WrongCodeLimits/perSiteInTotal``. Call in the transaction that has taken the attempt, with
    /// ``lock(_:)``.
    public func add(from siteKey: [UInt8]) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO wrong_codes (site_key) SELECT \(siteKey)
            WHERE (SELECT count(*) FROM (SELECT FROM wrong_codes WHERE site_key = \(siteKey) AND at > now() - \(unescaped: Self.hour)
                                         LIMIT \(WrongCodeLimits.perSiteInTotal)) counted) < \(WrongCodeLimits.perSiteInTotal)
            """)
    }

    /// Returns when a site may enter codes again; nil when it may now.
    ///
    /// A site has to wait while the total is reached, if it has itself entered ``WrongCodeLimits/freeOfSite`` wrong codes. So the total
    /// does not stop a site that has not guessed, and a guessing site gets few attempts. A proven verification passes: its owner has shown
    /// before that the e-mail is theirs. Reads at most as many index entries as the limits say. Call with ``lock(_:)``.
    public func wait(
        of siteKey: [UInt8], entering verificationID: UUID, limits: WrongCodeLimits
    ) async throws(PostgresError) -> Date? {
        guard limits.total > 0 else { return nil }
        let query: PostgresQuery = """
            SELECT least(own.until, counted.until) AS until
            FROM (SELECT min(at) + \(unescaped: Self.hour) AS until FROM (
                    SELECT at FROM wrong_codes WHERE site_key = \(siteKey) AND at > now() - \(unescaped: Self.hour)
                    ORDER BY at DESC LIMIT \(WrongCodeLimits.freeOfSite)) last
                  HAVING count(*) = \(WrongCodeLimits.freeOfSite)) own,
                (SELECT at + \(unescaped: Self.hour) AS until FROM wrong_codes WHERE at > now() - \(unescaped: Self.hour)
                 ORDER BY at DESC OFFSET \(limits.total - 1) LIMIT 1) counted
            WHERE NOT EXISTS (SELECT FROM email_verifications WHERE id = \(verificationID) AND is_proven)
            """
        return try await db.query(query).first?.decode("until")
    }

    /// Deletes at most `limit` wrong codes that do not count any more.
    ///
    /// - Returns: The number of deleted ones.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM wrong_codes WHERE id IN (
                SELECT id FROM wrong_codes WHERE at <= now() - \(unescaped: Self.hour)
                ORDER BY at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }

    private static let hour = "interval '\(lifetime.components.seconds) seconds'"
}
