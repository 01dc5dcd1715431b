internal import FoundationEssentials
public import PostgresClient

/// When so many tokens die at once that an outage of FCM is likelier than their death.
///
/// All three have to hold for the last ``window``; the numbers are those of shared experience with such outages, in which
/// every second answer called a living token dead.
public struct PushGuardRule: Sendable {
    /// The time that is looked at.
    public var window: Duration = .seconds(5 * 60)
    /// Up to so many dead tokens are believed in any case.
    public var deadMin = 200
    /// The share of dead tokens among the answers, above which they are not believed.
    public var deadShare = 0.2
    /// How many times the usual number of dead tokens are not believed; usual is the mean of ``baselineWindows``.
    public var baselineFactor = 5.0
    /// How many windows before the present one make the baseline: a week.
    public var baselineWindows = 7 * 24 * 12

    /// The defaults.
    public init() {}
}

/// Whether FCM is believed when it calls tokens dead.
public struct PushGuardState: Sendable, Equatable {
    /// Whether it is not.
    public var isTripped: Bool
    /// Whether it was believed until this call: the one moment to be loud about.
    public var isNew: Bool
    /// How many tokens it called dead within the window.
    public var dead: Int
    /// How many answers it gave within the window.
    public var sent: Int
}

/// Reads and writes `push_outcomes` and `push_guard`: what FCM answers, counted by all instances together.
public struct PushGuardRepository: Sendable {
    let db: any PostgresQueryable
    private let rule: PushGuardRule

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable, rule: PushGuardRule = PushGuardRule()) {
        self.db = db
        self.rule = rule
    }

    /// Counts answers of FCM. Belongs at the beginning of a transaction: whoever counts waits for others of its shard.
    public func count(sent: Int, dead: Int) async throws(PostgresError) {
        guard sent > 0 else { return }
        try await db.execute(
            """
            INSERT INTO push_outcomes AS o (minute, shard, sent, dead)
            VALUES (date_trunc('minute', now()), pg_backend_pid() % 8, \(sent), \(dead))
            ON CONFLICT (minute, shard) DO UPDATE SET sent = o.sent + EXCLUDED.sent, dead = o.dead + EXCLUDED.dead
            """)
    }

    /// Judges by what was counted; the caller's own count is part of it. Once tripped it stays so for another window.
    public func judge() async throws(PostgresError) -> PushGuardState {
        let rows = try await db.query(
            """
            SELECT coalesce(g.tripped_until > now(), false) AS is_tripped, w.sent, w.dead
            FROM push_guard g, (
                SELECT coalesce(sum(sent), 0)::bigint AS sent, coalesce(sum(dead), 0)::bigint AS dead FROM push_outcomes
                WHERE minute > now() - make_interval(secs => \(rule.window.inSeconds))) w
            """)
        guard let row = rows.first else {
            throw PostgresError(code: .decoding, message: "push_guard has no row")
        }
        var state = PushGuardState(
            isTripped: try row.decode("is_tripped"), isNew: false, dead: try row.decode("dead"), sent: try row.decode("sent"))
        guard state.dead > rule.deadMin, Double(state.dead) > Double(state.sent) * rule.deadShare,
            try await Double(state.dead) > rule.baselineFactor * baseline()
        else { return state }
        state.isNew = try await trip()
        state.isTripped = true
        return state
    }

    /// Whether the guard is tripped, as it was last judged.
    public func isTripped() async throws(PostgresError) -> Bool {
        let query: PostgresQuery = "SELECT coalesce(tripped_until > now(), false) AS is_tripped FROM push_guard"
        return try await db.query(query.readOnly()).first?.decode("is_tripped") ?? false
    }

    /// How many tokens die in a window usually.
    private func baseline() async throws(PostgresError) -> Double {
        let windows = Double(rule.baselineWindows)
        let query: PostgresQuery = """
            SELECT coalesce(sum(dead), 0)::float8 / \(windows) AS mean FROM push_outcomes
            WHERE minute > now() - make_interval(secs => \(rule.window.inSeconds * (windows + 1)))
              AND minute <= now() - make_interval(secs => \(rule.window.inSeconds))
            """
        return try await db.query(query).first?.decode("mean") ?? 0
    }

    /// Trips the guard for another window, and says whether it was not tripped before. The row is left alone for a while
    /// after it was written, because every instance comes by with every batch.
    private func trip() async throws(PostgresError) -> Bool {
        let rows = try await db.query(
            """
            UPDATE push_guard
            SET tripped_at = CASE WHEN tripped_until > now() THEN tripped_at ELSE now() END,
                tripped_until = now() + make_interval(secs => \(rule.window.inSeconds))
            WHERE tripped_until IS NULL OR tripped_until < now() + make_interval(secs => \(rule.window.inSeconds * 0.8))
            RETURNING tripped_at = now() AS is_new
            """)
        return try rows.first?.decode("is_new") ?? false
    }

    /// Deletes counts that no baseline needs any more, at most `limit`.
    @discardableResult
    public func deleteOld(limit: Int) async throws(PostgresError) -> Int {
        let age = rule.window.inSeconds * Double(rule.baselineWindows + 2)
        return try await db.execute(
            """
            DELETE FROM push_outcomes WHERE (minute, shard) IN (
                SELECT minute, shard FROM push_outcomes WHERE minute < now() - make_interval(secs => \(age))
                ORDER BY minute LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
