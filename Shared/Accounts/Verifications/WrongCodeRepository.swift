public import FoundationEssentials
public import PostgresClient

/// The limits of wrong codes in an hour.
public struct WrongCodeLimits: Sendable, Equatable {
    /// The wrong codes of all sites; 0 is no limit, also for a site. Guesses on many addresses, from many places, show only here.
    public var total = 1_000

    /// The wrong codes of one site, whatever others enter: it may otherwise guess on any number of addresses, five codes each. With codes
    /// of six digits, 120 an hour hit once in a year. Not fewer, because people behind one address share them.
    public static let perSite = 120

    /// The most wrong codes of one site that count, so that ``total`` measures how many places they come from.
    public static let perSiteInTotal = 10
    /// The wrong codes that a site enters while the total is reached: a person mistypes one, and another.
    public static let freeOfSite = 2

    /// The standard limits.
    public init() {}
}

/// A site that may not enter codes now.
public struct WrongCodeWait: Sendable, Equatable {
    /// When it may again.
    public let until: Date
    /// Whether ``WrongCodeLimits/total`` is a reason, not only the limit of the site itself.
    public let isOfTotal: Bool
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

    /// Counts a wrong code of a site, up to ``WrongCodeLimits/perSite``. Call in the transaction that has taken the attempt, with
    /// ``lock(_:)``.
    public func add(from siteKey: [UInt8]) async throws(PostgresError) {
        try await db.execute(
            """
            INSERT INTO wrong_codes (site_key, is_in_total)
            SELECT \(siteKey), count(*) FILTER (WHERE is_in_total) < \(WrongCodeLimits.perSiteInTotal)
            FROM (SELECT is_in_total FROM wrong_codes WHERE site_key = \(siteKey) AND at > now() - \(unescaped: Self.hour)
                  LIMIT \(WrongCodeLimits.perSite)) counted
            HAVING count(*) < \(WrongCodeLimits.perSite)
            """)
    }

    /// Returns when a site may enter codes again; nil when it may now.
    ///
    /// A site has to wait after ``WrongCodeLimits/perSite`` wrong codes and, while the total is reached, after
    /// ``WrongCodeLimits/freeOfSite`` of its own. So the total does not stop a site that has not guessed. A proven verification passes: its
    /// owner has shown before that the e-mail is theirs. Reads at most as many index entries as the limits say. Call with ``lock(_:)``.
    public func wait(
        of siteKey: [UInt8], entering verificationID: UUID, limits: WrongCodeLimits
    ) async throws(PostgresError) -> WrongCodeWait? {
        guard limits.total > 0 else { return nil }
        let query: PostgresQuery = """
            WITH of_site AS (
                SELECT at, row_number() OVER (ORDER BY at DESC) AS number FROM (
                    SELECT at FROM wrong_codes WHERE site_key = \(siteKey) AND at > now() - \(unescaped: Self.hour)
                    ORDER BY at DESC LIMIT \(WrongCodeLimits.perSite)) newest)
            SELECT (SELECT at FROM of_site WHERE number = \(WrongCodeLimits.perSite)) + \(unescaped: Self.hour) AS of_site,
                (SELECT least(own.at, counted.at) FROM of_site own,
                    (SELECT at FROM wrong_codes WHERE is_in_total AND at > now() - \(unescaped: Self.hour)
                     ORDER BY at DESC OFFSET \(limits.total - 1) LIMIT 1) counted
                 WHERE own.number = \(WrongCodeLimits.freeOfSite)) + \(unescaped: Self.hour) AS of_total
            WHERE NOT EXISTS (SELECT FROM email_verifications WHERE id = \(verificationID) AND is_proven)
            """
        guard let row = try await db.query(query).first else { return nil }
        let (ofSite, ofTotal) = (try row.decode("of_site", as: Date?.self), try row.decode("of_total", as: Date?.self))
        guard let until = [ofSite, ofTotal].compactMap({ $0 }).max() else { return nil }
        return WrongCodeWait(until: until, isOfTotal: ofTotal != nil)
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
