public import FoundationEssentials
public import PostgresClient

/// Reads and writes `account_exports`: one export of an account at a time, and a number a day, over all instances.
public struct AccountExportRepository: Sendable {
    /// The time for which exports are counted: 24 hours.
    public static let countedTime: Duration = .seconds(24 * 60 * 60)

    /// The answer to the wish to begin an export.
    public enum Start: Sendable, Equatable {
        /// It has begun.
        case begun
        /// Another export of the account is running.
        case busy
        /// The account has had its number; the next one is possible after this time.
        case exhausted(Duration)
    }

    let db: any PostgresQueryable

    /// Works inside a transaction for ``begin(id:userID:lease:maxPerDay:)``, else on a client as well.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Begins an export, unless one is under way or the account has had its number. Call in a transaction.
    ///
    /// - Parameters:
    ///   - lease: The time for which it counts as under way unless it is renewed: its process may die.
    ///   - maxPerDay: The number of exports in ``countedTime``, complete or not.
    public func begin(id: UUID, userID: UUID, lease: Duration, maxPerDay: Int) async throws(PostgresError) -> Start {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('exports:' || (\(userID)::uuid)::text, 0))")
        let rows = try await db.query(
            """
            SELECT count(*) FILTER (WHERE ended_at IS NULL AND lease_until > now()) AS running,
                   extract(epoch FROM (array_agg(started_at ORDER BY started_at DESC))[\(maxPerDay)]
                       + make_interval(secs => \(Self.countedTime / .seconds(1))) - now())::float8 AS wait
            FROM account_exports
            WHERE user_id = \(userID) AND started_at > now() - make_interval(secs => \(Self.countedTime / .seconds(1)))
            """)
        let row = try rows.required()
        if try row.decode("running", as: Int.self) > 0 { return .busy }
        if let wait = try row.decode("wait", as: Double?.self) { return .exhausted(.seconds(wait)) }
        try await db.execute(
            """
            INSERT INTO account_exports (id, user_id, lease_until)
            VALUES (\(id), \(userID), now() + make_interval(secs => \(lease / .seconds(1))))
            """)
        return .begun
    }

    /// Renews the lease of an export that is under way.
    ///
    /// - Returns: Whether it still is: not when the account is gone, or the lease has run out.
    public func renew(id: UUID, lease: Duration) async throws(PostgresError) -> Bool {
        try await db.execute(
            """
            UPDATE account_exports SET lease_until = now() + make_interval(secs => \(lease / .seconds(1)))
            WHERE id = \(id) AND ended_at IS NULL AND lease_until > now()
            """) == 1
    }

    /// Ends an export, whether it is complete or not.
    public func end(id: UUID) async throws(PostgresError) {
        try await db.execute("UPDATE account_exports SET ended_at = now() WHERE id = \(id) AND ended_at IS NULL")
    }

    /// Deletes at most `limit` exports that do not count any more.
    ///
    /// - Returns: The number of deleted rows.
    @discardableResult
    public func deleteExpired(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM account_exports WHERE id IN (
                SELECT id FROM account_exports
                WHERE started_at <= now() - make_interval(secs => \(Self.countedTime / .seconds(1))) AND lease_until <= now()
                ORDER BY started_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
