public import FoundationEssentials
public import PostgresClient

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

    /// Returns all installations of users, whatever their state.
    public func find(userIDs: [UUID]) async throws(PostgresError) -> [PushInstall] {
        guard !userIDs.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM push_installs WHERE user_id = ANY(\(userIDs))"
        return try await installs(db.query(query.readOnly()))
    }

    /// Returns the installations of users, dead ones left out; which of them a notification goes to is for
    /// ``InstallAddress/isReachable(on:at:)`` to say.
    public func addresses(userIDs: [UUID]) async throws(PostgresError) -> [InstallAddress] {
        guard !userIDs.isEmpty else { return [] }
        let query: PostgresQuery = """
            SELECT \(unescaped: InstallAddress.columns) FROM push_installs i
            WHERE i.user_id = ANY(\(userIDs)) AND i.state <> 'invalid'
            """
        return try await db.query(query.readOnly()).map { row throws(PostgresError) in try InstallAddress(row: row) }
    }

    /// Returns the installations of the members of small topics, dead ones left out. Their number is the members' times
    /// ``PushInstallLimits/perUserMax`` at most: bigger topics are for `TopicFanOutRepository`.
    public func addresses(topicIDs: [UUID]) async throws(PostgresError) -> [UUID: [InstallAddress]] {
        guard !topicIDs.isEmpty else { return [:] }
        let query: PostgresQuery = """
            SELECT m.topic_id, \(unescaped: InstallAddress.columns)
            FROM topic_members m CROSS JOIN LATERAL (\(unescaped: InstallAddress.ofMember)) i
            WHERE m.topic_id = ANY(\(topicIDs))
            """
        var addresses: [UUID: [InstallAddress]] = [:]
        for row in try await db.query(query.readOnly()) {
            addresses[try row.decode("topic_id"), default: []].append(try InstallAddress(row: row))
        }
        return addresses
    }

    /// Deletes those of the installations that nobody needs: bound to no user, with no push under way and no
    /// successful sign-in that can still be redeemed.
    ///
    /// Belongs in a transaction: the rows are locked first and judged by a second statement, so that a push that was
    /// addressed in between is seen. Pages of fan-outs need no look: what they have for an installation was meant for its user, and
    /// is not sent to one that has lost it.
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
}
