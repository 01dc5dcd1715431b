public import FoundationEssentials
public import PostgresClient

/// The new states of installations that FCM reported as dead.
public struct PrunedInstalls: Sendable, Equatable {
    /// The installations to which nothing is sent until they register again.
    public internal(set) var invalid: Set<UUID> = []
    /// The installations to which nothing is sent for ``PushInstallLimits/suspectTime``.
    public internal(set) var suspect: Set<UUID> = []
}

extension PushInstallRepository {
    /// The most installations that one call makes suspect again.
    private static let maxReconsidered = 10_000

    /// Counts the given installations that have a signed-in user.
    public func countBound(_ ids: [UUID]) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        let query: PostgresQuery = "SELECT count(*) AS n FROM push_installs WHERE id = ANY(\(ids)) AND user_id IS NOT NULL"
        return Int(try await db.query(query).first?.decode("n", as: Int64.self) ?? 0)
    }

    /// Marks installations as dead, each only if it still has the generation that the push was sent to, and its value was registered
    /// before the push was sent.
    ///
    /// A suspect installation becomes invalid if its `suspect_until` had passed when the push was sent.
    ///
    /// - Parameter isGuardTripped: Whether the guard is tripped: installations that were not suspect before become suspect, not invalid.
    @discardableResult
    public func markDead(_ dead: [DeadInstall], isGuardTripped: Bool = false) async throws(PostgresError) -> PrunedInstalls {
        guard !dead.isEmpty else { return PrunedInstalls() }
        let rows = try await db.query(
            """
            WITH dead AS (
                SELECT DISTINCT ON (id) id AS dead_id, generation AS dead_generation, sent_at, code
                FROM unnest(\(dead.map(\.id)), \(dead.map(\.generation)), \(dead.map(\.sentAt)), \(dead.map(\.code)))
                    AS d (id, generation, sent_at, code)
                ORDER BY id, generation DESC, sent_at DESC
            ), held AS (
                SELECT p.id AS held_id, \(isGuardTripped) AND p.state <> 'suspect' AS is_doubted
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

    /// Reverts the installations marked dead since `time`, because FCM's reports are not trusted: `invalid → suspect`.
    ///
    /// - Returns: The number of reverted installations.
    @discardableResult
    public func revertToSuspect(since time: Date) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE push_installs
            SET state = 'suspect', suspect_until = now() + \(unescaped: Self.suspectTime), invalid_at = NULL
            WHERE id IN (
                SELECT id FROM push_installs WHERE state = 'invalid' AND invalid_at >= \(time)
                ORDER BY id LIMIT \(Self.maxReconsidered) FOR UPDATE SKIP LOCKED)
            """)
    }

    /// Records that FCM accepted pushes to installations: `suspect → active`.
    ///
    /// - Returns: The number of installations that were suspect.
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
