public import FoundationEssentials
public import PostgresClient

/// How many pushes an installation is sent at most: two buckets that fill up as time goes by, one for bursts and one for hours.
///
/// FCM lets an Android device have 240 messages a minute and 5,000 an hour, and drops what is more. With these figures no minute
/// has more than 160 and no hour more than 3,500, and what senders let go without asking comes on top.
public struct PushRateLimits: Sendable {
    /// How many a minute in the long run.
    public var perMinute = 100.0
    /// How many at once after a pause.
    public var minuteBurst = 60.0
    /// How many an hour in the long run.
    public var perHour = 2_000.0
    /// How many within minutes after a pause of an hour.
    public var hourBurst = 1_500.0

    /// The limits for FCM.
    public init() {}
}

/// The leave to send some pushes to an installation.
public struct PushRateGrant: Sendable, Equatable {
    /// How many may go now; 0 when none may.
    public let count: Int
    /// How long it takes until as many as were asked for may go; zero when they may now.
    public let wait: Duration

    /// Describes a grant.
    public init(count: Int, wait: Duration) {
        self.count = count
        self.wait = wait
    }
}

/// Reads and writes `push_install_rates`: a pair of token buckets for each installation that gets many pushes, by the
/// database's clock, from which all senders take.
public struct PushRateRepository: Sendable {
    /// How old a row is that says no more than none: both buckets are full again.
    public static let age: Duration = .seconds(3600)

    private let db: any PostgresQueryable
    private let limits: PushRateLimits

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable, limits: PushRateLimits = PushRateLimits()) {
        self.db = db
        self.limits = limits
    }

    /// Takes leave to send some pushes to an installation. Belongs in a transaction that finds rows by key: the table may be empty
    /// when the server plans this, and have ten thousand rows soon after.
    ///
    /// - Parameter count: The most that are wanted.
    public func take(_ count: Int, installID: UUID) async throws(PostgresError) -> PushRateGrant {
        try await db.enqueue(
            """
            INSERT INTO push_install_rates (install_id, minute_tokens, hour_tokens)
            VALUES (\(installID), \(limits.minuteBurst), \(limits.hourBurst)) ON CONFLICT DO NOTHING
            """)
        let (minuteRate, hourRate) = (limits.perMinute / 60, limits.perHour / 3600)
        // The row is locked before the clock is read: else the time of a later taker could be the earlier one.
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
        // Whoever cleans up may have had the row between the two statements: then the buckets are full.
        guard let row = rows.first else { return PushRateGrant(count: count, wait: .zero) }
        return PushRateGrant(count: try row.decode("granted"), wait: .seconds(try row.decode("wait", as: Double.self)))
    }

    /// Deletes rows that say no more than none.
    ///
    /// - Returns: How many were deleted.
    public func deleteOld(limit: Int) async throws(PostgresError) -> Int {
        try await db.query(
            """
            DELETE FROM push_install_rates WHERE install_id IN (
                SELECT install_id FROM push_install_rates
                WHERE filled_at < now() - make_interval(secs => \(Self.age.inSeconds))
                LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            RETURNING install_id
            """
        ).count
    }
}
