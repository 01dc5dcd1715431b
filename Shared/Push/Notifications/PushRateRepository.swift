public import FoundationEssentials
public import PostgresClient

/// Limits on pushes to one installation: two token buckets, one for minutes and one for hours.
///
/// FCM accepts 240 messages a minute and 5,000 an hour for an Android device, and drops more. With these limits no minute has more than
/// 160 and no hour more than 3,500, plus the pushes that senders send without taking tokens.
public struct PushRateLimits: Sendable {
    /// Pushes a minute in the long run.
    public var perMinute = 100.0
    /// Pushes at once after a pause.
    public var minuteBurst = 60.0
    /// Pushes an hour in the long run.
    public var perHour = 2_000.0
    /// Pushes within minutes after a pause of an hour.
    public var hourBurst = 1_500.0

    /// The limits for FCM.
    public init() {}
}

/// A grant of pushes to an installation.
public struct PushRateGrant: Sendable, Equatable {
    /// The number of pushes that may be sent now; may be 0.
    public let count: Int
    /// The time until the requested number of pushes may be sent; zero when they may now.
    public let wait: Duration

    /// Describes a grant.
    public init(count: Int, wait: Duration) {
        self.count = count
        self.wait = wait
    }
}

/// Reads and writes `push_install_rates`: a pair of token buckets for each installation that gets many pushes, which all senders share,
/// by the database's clock.
public struct PushRateRepository: Sendable {
    /// The age after which a row can be deleted: both buckets are full again.
    public static let age: Duration = .seconds(3600)

    private let db: any PostgresQueryable
    private let limits: PushRateLimits

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable, limits: PushRateLimits = PushRateLimits()) {
        self.db = db
        self.limits = limits
    }

    /// Takes tokens for pushes to an installation. Call in a transaction with `forceIndexPlans`: the table may be empty when the server
    /// plans this statement, and have ten thousand rows soon after.
    ///
    /// - Parameter count: The most tokens to take.
    public func take(_ count: Int, installID: UUID) async throws(PostgresError) -> PushRateGrant {
        try await db.enqueue(
            """
            INSERT INTO push_install_rates (install_id, minute_tokens, hour_tokens)
            VALUES (\(installID), \(limits.minuteBurst), \(limits.hourBurst)) ON CONFLICT DO NOTHING
            """)
        let (minuteRate, hourRate) = (limits.perMinute / 60, limits.perHour / 3600)
        // Locks the row before reading the clock: otherwise a later call could have an earlier time.
        let rows = try await db.query(
            """
            WITH held AS MATERIALIZED (
                SELECT * FROM push_install_rates WHERE install_id = \(installID) FOR UPDATE
            ), clock AS MATERIALIZED (
                SELECT held.*, clock_timestamp() AS at FROM held
            ), elapsed AS (
                SELECT *, greatest(0, extract(epoch FROM at - filled_at)::float8) AS seconds FROM clock
            ), filled AS (
                SELECT install_id, at,
                       least(\(limits.minuteBurst)::float8, minute_tokens + \(minuteRate)::float8 * seconds) AS in_minute,
                       least(\(limits.hourBurst)::float8, hour_tokens + \(hourRate)::float8 * seconds) AS in_hour
                FROM elapsed
            ), taken AS (
                SELECT *, floor(least(\(Double(count))::float8, in_minute, in_hour)) AS granted FROM filled
            )
            UPDATE push_install_rates r
            SET minute_tokens = in_minute - granted, hour_tokens = in_hour - granted, filled_at = taken.at
            FROM taken WHERE r.install_id = taken.install_id
            RETURNING granted::bigint AS granted,
                      greatest(0, (\(Double(count))::float8 - in_minute) / \(minuteRate)::float8,
                               (\(Double(count))::float8 - in_hour) / \(hourRate)::float8) AS wait
            """)
        // The sweeper may have deleted the row between the two statements: then the buckets are full.
        guard let row = rows.first else { return PushRateGrant(count: count, wait: .zero) }
        return PushRateGrant(count: try row.decode("granted"), wait: .seconds(try row.decode("wait", as: Double.self)))
    }

    /// Deletes at most `limit` rows with full buckets.
    ///
    /// - Returns: The number of deleted rows.
    public func deleteOld(limit: Int) async throws(PostgresError) -> Int {
        try await db.query(
            """
            DELETE FROM push_install_rates WHERE install_id IN (
                SELECT install_id FROM push_install_rates
                WHERE filled_at < now() - make_interval(secs => \(Self.age / .seconds(1)))
                LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING install_id
            """
        ).count
    }
}
