public import FoundationEssentials
public import PostgresClient

/// The limits of a day's calls of paid generators; 0 is no limit.
public struct ImageCallLimits: Sendable, Equatable {
    /// The maximum number of calls for one account.
    public var perUser: Int
    /// The maximum number of calls for all accounts.
    public var total: Int

    /// The defaults: 100 calls for an account, and 5,000 for all accounts.
    public static let usual = ImageCallLimits(perUser: 100, total: 5_000)

    /// Names the limits.
    public init(perUser: Int = 0, total: Int = 0) {
        self.perUser = perUser
        self.total = total
    }

    /// The part of ``total`` that is open to an account with `calls` today, this one included.
    ///
    /// The last fifth is for accounts that have made a tenth of ``perUser`` at most: a few accounts that were created to exhaust the total
    /// cannot take it.
    func total(after calls: Int) -> Int {
        perUser > 0 && calls > max(1, perUser / 10) ? total - total / 5 : total
    }
}

/// Whether a call of a paid generator is within the limits of a day.
public enum ImageCallAdmission: Sendable, Equatable {
    case admitted, userLimitReached, totalReached
}

/// Reads and writes `image_calls`: what pictures cost is limited by day (UTC), for an account and for all.
public struct ImageCallRepository: Sendable {
    /// SQL expression: the day of now.
    static let today = "(now() AT TIME ZONE 'UTC')::date"

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Counts a call that is about to be made for an account.
    ///
    /// Call in the transaction that records the attempt (``ImageAttemptRepository/begin(jobID:worker:generator:limits:)``), and roll it
    /// back unless the call is admitted.
    public func count(for userID: UUID, limits: ImageCallLimits) async throws(PostgresError) -> ImageCallAdmission {
        guard let calls = try await increment(userID, limit: limits.perUser) else { return .userLimitReached }
        // Last, because all calls of the installation wait for this row's lock.
        return try await increment(nil, limit: limits.total(after: calls)) == nil ? .totalReached : .admitted
    }

    /// Counts a call of an account, or of all; returns the calls of today, and nil, without a change, where the limit is reached.
    private func increment(_ userID: UUID?, limit: Int) async throws(PostgresError) -> Int? {
        let rows = try await db.query(
            """
            INSERT INTO image_calls (day, user_id, calls) VALUES (\(unescaped: Self.today), \(userID), 1)
            ON CONFLICT (day, user_id) DO UPDATE SET calls = image_calls.calls + 1
            WHERE image_calls.calls < \(Int32(clamping: limit)) OR \(limit == 0)
            RETURNING calls
            """)
        return try rows.first.map { row throws(PostgresError) in Int(try row.decode("calls", as: Int32.self)) }
    }

    /// Takes back a call of today that cost nothing. Call in a transaction.
    public func takeBack(for userID: UUID) async throws(PostgresError) {
        // In the order in which ``count(for:limits:)`` locks the rows.
        for owner in [userID, nil] {
            try await db.execute(
                """
                UPDATE image_calls SET calls = calls - 1
                WHERE day = \(unescaped: Self.today) AND user_id IS NOT DISTINCT FROM \(owner) AND calls > 0
                """)
        }
    }

    /// Returns the calls for all accounts today.
    public func totalToday() async throws(PostgresError) -> Int {
        let query: PostgresQuery = """
            SELECT coalesce((SELECT calls FROM image_calls WHERE day = \(unescaped: Self.today) AND user_id IS NULL), 0) AS calls
            """
        return Int(try await db.query(query.readOnly()).required().decode("calls", as: Int32.self))
    }

    /// Deletes at most `limit` counts of days before yesterday.
    ///
    /// - Returns: The number of deleted counts.
    @discardableResult
    public func deleteOld(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM image_calls WHERE ctid IN (
                SELECT ctid FROM image_calls WHERE day < \(unescaped: Self.today) - 1 ORDER BY day LIMIT \(limit))
            """)
    }
}
