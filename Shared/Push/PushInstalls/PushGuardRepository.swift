internal import FoundationEssentials
public import PostgresClient

/// The thresholds above which FCM's reports of dead tokens are more likely an outage of FCM.
///
/// The guard trips when ``minDead``, ``deadShare`` and ``baselineFactor`` are all exceeded within the last ``window``. The defaults
/// follow experience with such outages, in which half of the answers reported living tokens as dead.
public struct PushGuardRule: Sendable {
    /// The time over which answers are counted.
    public var window: Duration = .seconds(5 * 60)
    /// The number of dead tokens up to which the guard never trips.
    public var minDead = 200
    /// The share of dead tokens among the answers.
    public var deadShare = 0.2
    /// The ratio of dead tokens to their usual number, which is the mean of ``baselineWindows``.
    public var baselineFactor = 5.0
    /// The number of windows before the current one that make up the baseline: a week.
    public var baselineWindows = 7 * 24 * 12

    /// The defaults.
    public init() {}
}

/// The state of the guard against false reports of dead tokens.
public struct PushGuardState: Sendable, Equatable {
    /// Whether FCM's reports of dead tokens are not trusted.
    public var isTripped: Bool
    /// Whether this call tripped the guard; the caller raises the alarm once.
    public var isNew: Bool
    /// The number of tokens that FCM reported as dead within the window.
    public var dead: Int
    /// The number of FCM's answers within the window.
    public var sent: Int
}

/// Reads and writes `push_outcomes` and `push_guard`: FCM's answers, counted over all instances.
public struct PushGuardRepository: Sendable {
    let db: any PostgresQueryable
    private let rule: PushGuardRule

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable, rule: PushGuardRule = PushGuardRule()) {
        self.db = db
        self.rule = rule
    }

    /// Counts answers of FCM. Call at the beginning of a transaction: the call waits for other transactions that count in its shard.
    public func count(sent: Int, dead: Int) async throws(PostgresError) {
        guard sent > 0 else { return }
        try await db.execute(
            """
            INSERT INTO push_outcomes AS o (minute, shard, sent, dead)
            VALUES (date_trunc('minute', now()), pg_backend_pid() % 8, \(sent), \(dead))
            ON CONFLICT (minute, shard) DO UPDATE SET sent = o.sent + EXCLUDED.sent, dead = o.dead + EXCLUDED.dead
            """)
    }

    /// Evaluates the rule on the counts, including the caller's own. The guard stays tripped for one window after its last trip.
    public func evaluate() async throws(PostgresError) -> PushGuardState {
        let rows = try await db.query(
            """
            SELECT coalesce(g.tripped_until > now(), false) AS is_tripped, w.sent, w.dead
            FROM push_guard g, (
                SELECT coalesce(sum(sent), 0)::bigint AS sent, coalesce(sum(dead), 0)::bigint AS dead FROM push_outcomes
                WHERE minute > now() - make_interval(secs => \(rule.window / .seconds(1)))) w
            """)
        let row = try rows.required()
        var state = PushGuardState(
            isTripped: try row.decode("is_tripped"), isNew: false, dead: try row.decode("dead"), sent: try row.decode("sent"))
        guard state.dead > rule.minDead, Double(state.dead) > Double(state.sent) * rule.deadShare,
            try await Double(state.dead) > rule.baselineFactor * baseline()
        else { return state }
        state.isNew = try await trip()
        state.isTripped = true
        return state
    }

    /// Returns whether the guard is tripped, by the last evaluation.
    public func isTripped() async throws(PostgresError) -> Bool {
        let query: PostgresQuery = "SELECT coalesce(tripped_until > now(), false) AS is_tripped FROM push_guard"
        return try await db.query(query.readOnly()).first?.decode("is_tripped") ?? false
    }

    /// Returns the mean number of dead tokens in a window.
    private func baseline() async throws(PostgresError) -> Double {
        let windows = Double(rule.baselineWindows)
        let query: PostgresQuery = """
            SELECT coalesce(sum(dead), 0)::float8 / \(windows) AS mean FROM push_outcomes
            WHERE minute > now() - make_interval(secs => \(rule.window / .seconds(1) * (windows + 1)))
              AND minute <= now() - make_interval(secs => \(rule.window / .seconds(1)))
            """
        return try await db.query(query).first?.decode("mean") ?? 0
    }

    /// Trips the guard for another window, and returns whether it was not tripped before. Does not write the row again during the
    /// first fifth of a window, because every instance calls this with every batch.
    private func trip() async throws(PostgresError) -> Bool {
        let rows = try await db.query(
            """
            UPDATE push_guard
            SET tripped_at = CASE WHEN tripped_until > now() THEN tripped_at ELSE now() END,
                tripped_until = now() + make_interval(secs => \(rule.window / .seconds(1)))
            WHERE tripped_until IS NULL OR tripped_until < now() + make_interval(secs => \(rule.window / .seconds(1) * 0.8))
            RETURNING tripped_at = now() AS is_new
            """)
        return try rows.first?.decode("is_new") ?? false
    }

    /// Deletes at most `limit` counts that are older than the baseline.
    @discardableResult
    public func deleteOld(limit: Int) async throws(PostgresError) -> Int {
        let age = rule.window / .seconds(1) * Double(rule.baselineWindows + 2)
        return try await db.execute(
            """
            DELETE FROM push_outcomes WHERE (minute, shard) IN (
                SELECT minute, shard FROM push_outcomes WHERE minute < now() - make_interval(secs => \(age))
                ORDER BY minute LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
