public import PostgresClient

/// FCM's quota of a project, and its division between lanes.
public struct PushQuotaLimits: Sendable {
    /// Pushes a second, all lanes together; the bucket holds the tokens of one second.
    public var perSecond: Double
    /// The share of the bucket that the bulk lane leaves to the other lanes.
    public var reservedShare = 0.4
    /// The time in which the bulk lane ramps up to its full rate after a pause.
    public var bulkRamp: Duration

    /// Describes a quota.
    public init(perSecond: Double, bulkRamp: Duration = .seconds(60)) {
        self.perSecond = perSecond
        self.bulkRamp = bulkRamp
    }
}

/// Reads and writes `push_quota`: one token bucket per project, which all its senders share, by the database's clock.
public struct PushQuotaRepository: Sendable {
    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Takes tokens for pushes.
    ///
    /// The bulk lane never takes the last ``PushQuotaLimits/reservedShare`` of the bucket, so that it is always available to the other
    /// lanes; tokens that they do not use go to the bulk lane as the bucket refills.
    ///
    /// - Parameters:
    ///   - count: The most tokens to take.
    ///   - isBulk: Whether they are for the bulk lane.
    /// - Returns: The number of tokens taken; 0 when no token is available.
    public func take(
        _ count: Int, project: String, isBulk: Bool, limits: PushQuotaLimits
    ) async throws(PostgresError) -> Int {
        let (rate, ramp) = (limits.perSecond, max(1, limits.bulkRamp / .seconds(1)))
        try await db.execute("INSERT INTO push_quota (project) VALUES (\(project)) ON CONFLICT DO NOTHING")
        // Locks the row before reading the clock: otherwise a later call could have an earlier time.
        let rows = try await db.query(
            """
            WITH held AS MATERIALIZED (
                SELECT * FROM push_quota WHERE project = \(project) FOR UPDATE
            ), clock AS MATERIALIZED (
                SELECT held.*, clock_timestamp() AS at FROM held
            ), rates AS (
                SELECT *, greatest(0, least(1, extract(epoch FROM at - greatest(refilled_at, at - interval '1 s'))::float8)) AS elapsed,
                       CASE WHEN bulk_at < at - make_interval(secs => \(ramp)) THEN at ELSE bulk_since END AS since
                FROM clock
            ), filled AS (
                SELECT *, least(\(rate)::float8, tokens + \(rate)::float8 * elapsed) AS full_tokens,
                       least(1, greatest(1, extract(epoch FROM at - since)::float8) / \(ramp)::float8) * \(rate)::float8 AS bulk_rate
                FROM rates
            ), granted AS (
                SELECT *, least(bulk_rate, CASE WHEN since = at THEN bulk_rate ELSE bulk_tokens + bulk_rate * elapsed END) AS full_bulk
                FROM filled
            ), taken AS (
                SELECT *, floor(greatest(0, CASE WHEN \(isBulk)
                    THEN least(\(count)::float8, full_bulk, full_tokens - \(limits.reservedShare)::float8 * \(rate)::float8)
                    ELSE least(\(count)::float8, full_tokens) END)) AS grant_count
                FROM granted
            )
            UPDATE push_quota q
            SET tokens = full_tokens - grant_count, refilled_at = taken.at,
                bulk_tokens = CASE WHEN \(isBulk) THEN full_bulk - grant_count ELSE full_bulk END,
                bulk_since = CASE WHEN \(isBulk) THEN since ELSE q.bulk_since END,
                bulk_at = CASE WHEN \(isBulk) THEN taken.at ELSE q.bulk_at END
            FROM taken WHERE q.project = taken.project
            RETURNING grant_count::bigint AS granted
            """)
        return try rows.first?.decode("granted") ?? 0
    }
}
