public import FoundationEssentials
public import PostgresClient

/// What became of installations that FCM called dead.
public struct PrunedInstalls: Sendable, Equatable {
    /// Those that nothing is sent to any more, until they register again.
    public internal(set) var invalid: Set<UUID> = []
    /// Those that nothing is sent to for ``PushInstallLimits/suspectTime``.
    public internal(set) var suspect: Set<UUID> = []
}

extension PushInstallRepository {
    /// The most installations that one call believes alive again.
    private static let reconsiderMax = 10_000

    /// Counts those of some installations that have a user signed in.
    public func countBound(_ ids: [UUID]) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        let query: PostgresQuery = "SELECT count(*) AS n FROM push_installs WHERE id = ANY(\(ids)) AND user_id IS NOT NULL"
        return Int(try await db.query(query).first?.decode("n", as: Int64.self) ?? 0)
    }

    /// Marks installations dead, each only if it is still in the generation that was sent to and its value was registered
    /// before the push was sent.
    ///
    /// A suspect one whose time of rest was over when the push was sent had its second chance, and is dead.
    ///
    /// - Parameter isDoubtful: Whether FCM calls too many dead to be believed: what was not suspect before becomes it.
    @discardableResult
    public func markDead(_ dead: [DeadInstall], isDoubtful: Bool = false) async throws(PostgresError) -> PrunedInstalls {
        guard !dead.isEmpty else { return PrunedInstalls() }
        let rows = try await db.query(
            """
            WITH dead AS (
                SELECT DISTINCT ON (id) id AS dead_id, generation AS dead_generation, sent_at, code
                FROM unnest(\(dead.map(\.id)), \(dead.map(\.generation)), \(dead.map(\.sentAt)), \(dead.map(\.code)))
                    AS d (id, generation, sent_at, code)
                ORDER BY id, generation DESC, sent_at DESC
            ), held AS (
                SELECT p.id AS held_id, \(isDoubtful) AND p.state <> 'suspect' AS is_doubted
                FROM push_installs p JOIN dead ON dead_id = p.id
                WHERE p.generation = dead_generation AND p.registered_at <= sent_at
                  AND (p.state IN ('active', 'stale') OR (p.state = 'suspect' AND p.suspect_until <= sent_at))
                ORDER BY p.id FOR UPDATE OF p
            )
            UPDATE push_installs p
            SET state = CASE WHEN is_doubted THEN 'suspect' ELSE 'invalid' END,
                suspect_until = CASE WHEN is_doubted THEN now() + \(unescaped: Self.suspectTime) END,
                invalid_at = CASE WHEN is_doubted THEN NULL ELSE now() END, invalid_code = dead.code
            FROM held JOIN dead ON dead_id = held_id
            WHERE p.id = held_id AND p.generation = dead_generation
            RETURNING p.id, p.state
            """)
        var pruned = PrunedInstalls()
        for row in rows {
            let state = try row.decodeCase("state", as: PushInstall.State.self)
            let id = try row.decode("id", as: UUID.self)
            if state == .suspect { pruned.suspect.insert(id) } else { pruned.invalid.insert(id) }
        }
        return pruned
    }

    /// Takes back what was marked dead since `time`, because FCM is not to be believed: `invalid → suspect`.
    ///
    /// - Returns: How many there were.
    @discardableResult
    public func doubtDead(since time: Date) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE push_installs
            SET state = 'suspect', suspect_until = now() + \(unescaped: Self.suspectTime), invalid_at = NULL
            WHERE id IN (
                SELECT id FROM push_installs WHERE state = 'invalid' AND invalid_at >= \(time)
                ORDER BY id LIMIT \(Self.reconsiderMax) FOR UPDATE SKIP LOCKED)
            """)
    }

    /// Notes that FCM took pushes for installations: `suspect → active`.
    ///
    /// - Returns: How many were suspect.
    @discardableResult
    public func markReached(_ ids: [UUID]) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        return try await db.execute(
            """
            UPDATE push_installs
            SET state = 'active', suspect_until = NULL, invalid_code = NULL
            WHERE id IN (
                SELECT id FROM push_installs WHERE state = 'suspect' AND id = ANY(\(ids)) ORDER BY id FOR UPDATE)
            """)
    }
}
