public import FoundationEssentials
public import PostgresClient

/// The totals of a ledger.
public struct Balance: Sendable, Equatable {
    /// The number of published pieces of work that have effects.
    public let published: Int
    /// The number of effects, including duplicates.
    public let effects: Int
    /// The number of missing effects.
    public let lost: Int
    /// The number of effects beyond one for each promised effect.
    public let duplicated: Int
    /// The number of handler runs beyond the first one of each message, which the inbox has to absorb.
    public let rerun: Int

    /// Creates totals as ``Ledger/balance()`` counts them.
    public init(published: Int, effects: Int, lost: Int, duplicated: Int, rerun: Int) {
        self.published = published
        self.effects = effects
        self.lost = lost
        self.duplicated = duplicated
        self.rerun = rerun
    }

    /// Whether each promised effect was taken exactly once.
    public var isEven: Bool { lost == 0 && duplicated == 0 }
}

extension Ledger {
    /// Counts published work, effects and handler runs.
    public func balance() async throws(PostgresError) -> Balance {
        let rows = try await db.query(
            """
            WITH taken AS (SELECT id, stage, count(*) AS times FROM fault_effects GROUP BY id, stage),
                 due AS (
                    SELECT p.id, s.stage FROM fault_published p, generate_series(1, p.effects) AS s (stage))
            SELECT (SELECT count(*) FROM fault_published WHERE effects > 0) AS published,
                   (SELECT coalesce(sum(times), 0)::bigint FROM taken) AS effects,
                   (SELECT count(*) FROM due LEFT JOIN taken USING (id, stage) WHERE taken.id IS NULL) AS lost,
                   (SELECT coalesce(sum(times - CASE WHEN due.id IS NULL THEN 0 ELSE 1 END), 0)::bigint
                    FROM taken LEFT JOIN due USING (id, stage)) AS duplicated,
                   (SELECT count(*) FROM fault_started)
                       - (SELECT count(*) FROM (SELECT DISTINCT id, stage FROM fault_started) AS first) AS rerun
            """)
        guard let row = rows.first else { throw PostgresError(code: .decoding, message: "no balance") }
        return Balance(
            published: try row.decode("published"), effects: try row.decode("effects"), lost: try row.decode("lost"),
            duplicated: try row.decode("duplicated"), rerun: try row.decode("rerun"))
    }

    /// Returns the number of published pieces of work that have effects.
    public func publishedCount() async throws(PostgresError) -> Int {
        try await count("SELECT count(*) FROM fault_published WHERE effects > 0")
    }

    /// Returns the number of effects, including duplicates.
    public func effectCount() async throws(PostgresError) -> Int {
        try await count("SELECT count(*) FROM fault_effects")
    }

    /// Returns the number of handler runs of a process whose effect no process has taken yet.
    public func inWork(pid: Int32) async throws(PostgresError) -> Int {
        try await count(
            """
            SELECT count(*) FROM fault_started s WHERE pid = \(pid)
            AND NOT EXISTS (SELECT FROM fault_effects e WHERE e.id = s.id AND e.stage = s.stage)
            """)
    }

    /// Returns the number of handler runs that a process has begun.
    public func runCount(pid: Int32) async throws(PostgresError) -> Int {
        try await count("SELECT count(*) FROM fault_started WHERE pid = \(pid)")
    }

    /// Returns the number of handler runs of a piece of work, in both stages.
    public func runCount(of id: UUID) async throws(PostgresError) -> Int {
        try await count("SELECT count(*) FROM fault_started WHERE id = \(id)")
    }

    /// Returns the number of handler runs of all work of a kind, in both stages.
    public func runs(of kind: WorkKind) async throws(PostgresError) -> Int {
        try await count(
            """
            SELECT count(*) FROM fault_started WHERE id IN (SELECT id FROM fault_published WHERE kind = \(kind.rawValue))
            """)
    }

    /// Returns the number of handler runs of messages that were delivered before.
    public func redeliveries() async throws(PostgresError) -> Int {
        try await count("SELECT count(*) FROM fault_started WHERE delivery > 1")
    }

    /// Returns the number of handler runs of messages that were delivered before and already had a handler run.
    public func repetitions() async throws(PostgresError) -> Int {
        try await count(
            """
            SELECT count(*) FROM fault_started again WHERE delivery > 1 AND EXISTS (
                SELECT FROM fault_started s WHERE s.id = again.id AND s.stage = again.stage AND s.at < again.at)
            """)
    }

    /// Returns the seconds from a moment to each effect that was due at it, in ascending order: the first effect of all work that
    /// was published and had none, or, with `pids`, the effects of the handler runs that these processes had begun. An effect
    /// counts from its commit.
    public func recoveries(from moment: Date, pids: [Int32]? = nil) async throws(PostgresError) -> [Double] {
        let rows = try await db.query(
            """
            WITH ended AS (
                SELECT id, stage, min(pg_xact_commit_timestamp(xmin)) AS at FROM fault_effects GROUP BY id, stage)
            SELECT extract(epoch FROM ended.at - \(moment))::float8 AS seconds
            FROM ended JOIN fault_published p USING (id)
            WHERE ended.at > \(moment) AND (
                \(pids == nil) AND ended.stage = 1 AND pg_xact_commit_timestamp(p.xmin) <= \(moment)
                OR EXISTS (
                    SELECT FROM fault_started s
                    WHERE s.id = ended.id AND s.stage = ended.stage AND s.at <= \(moment)
                      AND s.pid = ANY(\(pids ?? []))))
            ORDER BY seconds
            """)
        return try rows.map { row throws(PostgresError) in try row.decode("seconds") }
    }

    /// Returns the number of pieces of work that were due at a moment and have had no first effect since.
    public func openCount(dueAt moment: Date) async throws(PostgresError) -> Int {
        try await count(
            """
            SELECT count(*) FROM fault_published p WHERE effects > 0 AND pg_xact_commit_timestamp(p.xmin) <= \(moment)
            AND NOT EXISTS (SELECT FROM fault_effects e WHERE e.id = p.id AND e.stage = 1)
            """)
    }

    private func count(_ query: PostgresQuery) async throws(PostgresError) -> Int {
        try await db.query(query).first.map { row throws(PostgresError) in try row.decode(0) } ?? 0
    }
}
