public import FoundationEssentials
public import PostgresClient

/// The counts of one step of the daily expiry of installations.
public struct PushInstallExpiryStep: Sendable, Equatable {
    /// The number of installations that were checked.
    public var visited = 0
    /// The number that became stale.
    public var stale = 0
    /// The number that were deleted.
    public var deleted = 0

    /// Describes a step.
    public init(visited: Int = 0, stale: Int = 0, deleted: Int = 0) {
        self.visited = visited
        self.stale = stale
        self.deleted = deleted
    }
}

extension PushInstallRepository {
    /// The interval at which all installations are checked.
    public static let expiryInterval = Duration.seconds(24 * 60 * 60)

    /// Continues the daily expiry with the next installations in the order of their ids. Marks those as stale that have not registered
    /// for ``PushInstallLimits/staleAge``. Deletes those without a user for ``PushInstallLimits/unboundAge``, dead for
    /// ``PushInstallLimits/invalidAge``, or not seen for ``PushInstallLimits/idleAge``.
    ///
    /// The position is stored in `push_walk`, so that all instances share it and a restart continues there. This needs no index on the
    /// time of registration, which would slow down every registration. Call in a transaction.
    ///
    /// - Returns: Nil when there is nothing to do: today's expiry is complete, or another instance is running a step.
    public func expireInstallations(limit: Int) async throws(PostgresError) -> PushInstallExpiryStep? {
        let begun = try await db.query(
            """
            SELECT coalesce(after_id, \(UUID.beforeAll)) AS after_id, after_id IS NULL AS is_new FROM push_walk
            WHERE after_id IS NOT NULL OR started_at < now() - make_interval(secs => \(Self.expiryInterval / .seconds(1)))
            FOR UPDATE SKIP LOCKED
            """)
        guard let row = begun.first else { return nil }
        let after: UUID = try row.decode("after_id")
        let page = try await db.query(
            "SELECT id FROM push_installs WHERE id > \(after) ORDER BY id LIMIT \(limit)")
        var step = PushInstallExpiryStep(visited: page.count)
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
                (user_id IS NULL AND last_seen_at < now() - make_interval(secs => \(PushInstallLimits.unboundAge / .seconds(1))))
                OR invalid_at < now() - make_interval(secs => \(PushInstallLimits.invalidAge / .seconds(1)))
                OR last_seen_at < now() - make_interval(secs => \(PushInstallLimits.idleAge / .seconds(1))))
            """)
    }

    private func markStale(after: UUID, through last: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            UPDATE push_installs SET state = 'stale'
            WHERE id > \(after) AND id <= \(last) AND state = 'active'
              AND last_seen_at < now() - make_interval(secs => \(PushInstallLimits.staleAge / .seconds(1)))
            """)
    }

    /// Deletes at most `limit` audit entries that are older than `age`.
    @discardableResult
    public func deleteAudit(olderThan age: Duration, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM push_install_audit WHERE id IN (SELECT id FROM push_install_audit ORDER BY id LIMIT \(limit))
                AND at < now() - make_interval(secs => \(age / .seconds(1)))
            """)
    }

    /// Deletes all installations of a user, and their audit entries. Call in a transaction.
    ///
    /// - Returns: The ids of the installations, at most ``PushInstallLimits/maxPerUser``.
    public func erase(userID: UUID) async throws(PostgresError) -> [UUID] {
        let rows = try await db.query("DELETE FROM push_installs WHERE user_id = \(userID) RETURNING id")
        try await db.execute("DELETE FROM push_install_audit WHERE old_user_id = \(userID) OR new_user_id = \(userID)")
        return try rows.map { row throws(PostgresError) in try row.decode("id") }
    }
}
