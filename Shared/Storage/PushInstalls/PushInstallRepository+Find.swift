public import FoundationEssentials
public import PostgresClient
public import WireFormat

extension PushInstallRepository {
    /// Returns installations by id; unknown ids are left out.
    public func find(ids: [UUID]) async throws(PostgresError) -> [PushInstall] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM push_installs WHERE id = ANY(\(ids))"
        return try await installs(db.query(query.readOnly()))
    }

    /// Returns installations by key; unknown keys are left out.
    public func find(installationKeys: [[UInt8]]) async throws(PostgresError) -> [PushInstall] {
        guard !installationKeys.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM push_installs WHERE installation_key = ANY(\(installationKeys))"
        return try await installs(db.query(query.readOnly()))
    }

    /// Returns the installations of users that a notification of this lane goes to now; see
    /// ``PushInstall/isReachable(on:at:)``.
    public func findReachable(userIDs: [UUID], lane: Lane = .urgent) async throws(PostgresError) -> [PushInstall] {
        guard !userIDs.isEmpty else { return [] }
        let query: PostgresQuery = """
            SELECT * FROM push_installs
            WHERE user_id = ANY(\(userIDs)) AND \(unescaped: Self.isReachable(on: lane, "push_installs"))
            """
        return try await installs(db.query(query.readOnly()))
    }

    /// ``PushInstall/isReachable(on:at:)`` as SQL about a row of the table of that name.
    static func isReachable(on lane: Lane, _ table: String) -> String {
        let states = lane == .bulk ? "= 'active'" : "IN ('active', 'stale')"
        return "(\(table).state \(states) OR (\(table).state = 'suspect' AND \(table).suspect_until <= now()))"
    }

    /// Deletes those of the installations that nobody needs: bound to no user, with no push under way and no
    /// successful sign-in that can still be redeemed.
    ///
    /// Belongs in a transaction: the rows are locked first and judged by a second statement, so that a push that was
    /// addressed in between is seen.
    ///
    /// - Returns: How many were deleted.
    @discardableResult
    public func deleteUnneeded(installationKeys: [[UInt8]]) async throws(PostgresError) -> Int {
        guard !installationKeys.isEmpty else { return 0 }
        let locked = try await db.query(
            """
            SELECT id FROM push_installs WHERE installation_key = ANY(\(installationKeys)) AND user_id IS NULL
            ORDER BY installation_key FOR UPDATE
            """)
        let ids = try locked.map { row throws(PostgresError) in try row.decode("id", as: UUID.self) }
        guard !ids.isEmpty else { return 0 }
        return try await db.execute(
            """
            DELETE FROM push_installs p
            WHERE p.id = ANY(\(ids)) AND p.user_id IS NULL
              AND NOT EXISTS (
                  SELECT FROM deliveries d WHERE d.install_id = p.id AND d.state IN ('pending', 'sending'))
              AND NOT EXISTS (
                  SELECT FROM sessions s
                  WHERE s.installation_key = p.installation_key AND s.event = 'sign_in' AND s.state = 'succeeded'
                    AND s.redeemed_at IS NULL
                    AND s.completed_at > now() - make_interval(secs => \(SessionRepository.redemptionTime.inSeconds)))
            """)
    }

    /// Deletes installations nobody will miss, at most `limit`: bound to nobody for a day, dead for 30 days, or not
    /// seen for 270 days.
    ///
    /// Reads the whole table, which is why it is run daily: no index on `last_seen_at` keeps registrations cheap.
    ///
    /// - Returns: How many were deleted.
    @discardableResult
    public func deleteIdle(limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM push_installs WHERE id IN (
                SELECT id FROM push_installs
                WHERE (user_id IS NULL AND last_seen_at < now() - interval '1 day')
                   OR invalid_at < now() - interval '30 days' OR last_seen_at < now() - interval '270 days'
                LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
