public import FoundationEssentials
public import PostgresClient

/// What a step of the daily walk over the installations came by.
public struct PushInstallWalkStep: Sendable, Equatable {
    /// How many it looked at.
    public var visited = 0
    /// How many it found stale.
    public var stale = 0
    /// How many it deleted.
    public var deleted = 0

    /// Describes a step.
    public init(visited: Int = 0, stale: Int = 0, deleted: Int = 0) {
        self.visited = visited
        self.stale = stale
        self.deleted = deleted
    }
}

extension PushInstallRepository {
    /// How often all installations are looked at.
    public static let walkInterval = Duration.seconds(24 * 60 * 60)

    /// Goes on with the daily walk: looks at the next installations in the order of their ids, marks those stale that have
    /// not registered for ``PushInstallLimits/staleAge``, and deletes those that nobody will miss: of nobody for
    /// ``PushInstallLimits/unboundAge``, dead for ``PushInstallLimits/invalidAge``, not seen for
    /// ``PushInstallLimits/idleAge``.
    ///
    /// How far it has come is a row, so that any number of instances share one walk, and a restart goes on where it was. No
    /// index on the time of a registration is needed, which would make every registration dearer. Belongs in a transaction.
    ///
    /// - Returns: Nil when there is nothing to do: today's walk is over, or another instance is on it.
    public func walk(limit: Int) async throws(PostgresError) -> PushInstallWalkStep? {
        let begun = try await db.query(
            """
            SELECT coalesce(after_id, \(UUID.beforeAll)) AS after_id, after_id IS NULL AS is_new FROM push_walk
            WHERE after_id IS NOT NULL OR started_at < now() - make_interval(secs => \(Self.walkInterval.inSeconds))
            FOR UPDATE SKIP LOCKED
            """)
        guard let row = begun.first else { return nil }
        let after: UUID = try row.decode("after_id")
        let page = try await db.query(
            "SELECT id FROM push_installs WHERE id > \(after) ORDER BY id LIMIT \(limit)")
        var step = PushInstallWalkStep(visited: page.count)
        let last = try page.last.map { row throws(PostgresError) in try row.decode("id", as: UUID.self) }
        if let last {
            step.deleted = try await deleteIdle(after: after, through: last)
            step.stale = try await markStale(after: after, through: last)
        }
        let isNew: Bool = try row.decode("is_new")
        let next = page.count < limit ? nil : last
        try await db.execute(
            "UPDATE push_walk SET after_id = \(next), started_at = CASE WHEN \(isNew) THEN now() ELSE started_at END")
        return step
    }

    private func deleteIdle(after: UUID, through last: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM push_installs
            WHERE id > \(after) AND id <= \(last) AND (
                (user_id IS NULL AND last_seen_at < now() - make_interval(secs => \(PushInstallLimits.unboundAge.inSeconds)))
                OR invalid_at < now() - make_interval(secs => \(PushInstallLimits.invalidAge.inSeconds))
                OR last_seen_at < now() - make_interval(secs => \(PushInstallLimits.idleAge.inSeconds)))
            """)
    }

    private func markStale(after: UUID, through last: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE push_installs SET state = 'stale'
            WHERE id > \(after) AND id <= \(last) AND state = 'active'
              AND last_seen_at < now() - make_interval(secs => \(PushInstallLimits.staleAge.inSeconds))
            """)
    }

    /// Deletes entries of the audit that are older than `age`, at most `limit`.
    @discardableResult
    public func deleteAudit(olderThan age: Duration, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM push_install_audit WHERE id IN (SELECT id FROM push_install_audit ORDER BY id LIMIT \(limit))
                AND at < now() - make_interval(secs => \(age.inSeconds))
            """)
    }

    /// Deletes all installations of a user, and what the audit says of them. Belongs in a transaction.
    ///
    /// - Returns: The ids of the installations, of which there are ``PushInstallLimits/perUserMax`` at most.
    public func erase(userID: UUID) async throws(PostgresError) -> [UUID] {
        let rows = try await db.query("DELETE FROM push_installs WHERE user_id = \(userID) RETURNING id")
        try await db.execute("DELETE FROM push_install_audit WHERE old_user_id = \(userID) OR new_user_id = \(userID)")
        return try rows.map { row throws(PostgresError) in try row.decode("id") }
    }
}
