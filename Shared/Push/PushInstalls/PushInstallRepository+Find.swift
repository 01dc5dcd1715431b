public import FoundationEssentials
public import PostgresClient

extension PushInstallRepository {
    /// Returns installations by id; unknown ids are omitted.
    public func find(ids: [UUID]) async throws(PostgresError) -> [PushInstall] {
        guard !ids.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM push_installs WHERE id = ANY(\(ids))"
        return try await db.query(query.readOnly()).map(PushInstall.init(row:))
    }

    /// Returns all installations of users, in any state.
    public func find(userIDs: [UUID]) async throws(PostgresError) -> [PushInstall] {
        guard !userIDs.isEmpty else { return [] }
        let query: PostgresQuery = "SELECT * FROM push_installs WHERE user_id = ANY(\(userIDs))"
        return try await db.query(query.readOnly()).map(PushInstall.init(row:))
    }

    /// Returns the addresses of users' installations, without dead ones. ``InstallAddress/isReachable(on:at:)`` decides which of them
    /// get a notification.
    public func addresses(userIDs: [UUID]) async throws(PostgresError) -> [InstallAddress] {
        guard !userIDs.isEmpty else { return [] }
        let query: PostgresQuery = """
            SELECT \(unescaped: InstallAddress.columns) FROM push_installs i
            WHERE i.user_id = ANY(\(userIDs)) AND i.state <> 'invalid'
            """
        return try await db.query(query.readOnly()).map(InstallAddress.init(row:))
    }

    /// Returns the numbers of users in the recipient lists of apps' notifications; lists without users are omitted.
    public func listSizes(ids: [UUID]) async throws(PostgresError) -> [UUID: Int] {
        guard !ids.isEmpty else { return [:] }
        let query: PostgresQuery = """
            SELECT id, cardinality(user_ids)::bigint AS size FROM app_notifications WHERE id = ANY(\(ids)) AND cardinality(user_ids) > 0
            """
        var sizes: [UUID: Int] = [:]
        for row in try await db.query(query.readOnly()) { sizes[try row.decode("id")] = try row.decode("size") }
        return sizes
    }

    /// Returns the addresses of the users in small recipient lists, as ``addresses(topicIDs:)`` does for topics.
    public func addresses(listIDs: [UUID]) async throws(PostgresError) -> [UUID: [InstallAddress]] {
        guard !listIDs.isEmpty else { return [:] }
        let query: PostgresQuery = """
            SELECT n.id AS list_id, \(unescaped: InstallAddress.columns)
            FROM app_notifications n CROSS JOIN LATERAL unnest(n.user_ids) AS m (user_id)
            CROSS JOIN LATERAL (\(unescaped: InstallAddress.ofMember)) i
            WHERE n.id = ANY(\(listIDs))
            """
        var addresses: [UUID: [InstallAddress]] = [:]
        for row in try await db.query(query.readOnly()) {
            addresses[try row.decode("list_id"), default: []].append(try InstallAddress(row: row))
        }
        return addresses
    }

    /// Returns the addresses of the members of small topics, without dead installations: up to ``PushInstallLimits/maxPerUser`` for
    /// each member. Bigger topics use `TopicFanOutRepository`.
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

    /// Returns the addresses to which the results of sessions are pushed; `nil` for a session whose installation is deleted. Unknown
    /// sessions are omitted.
    public func addresses(sessionIDs: [UUID]) async throws(PostgresError) -> [UUID: InstallAddress?] {
        guard !sessionIDs.isEmpty else { return [:] }
        let query: PostgresQuery = """
            SELECT s.id AS session_id, \(unescaped: InstallAddress.columns)
            FROM sessions s LEFT JOIN push_installs i ON i.id = s.install_id
            WHERE s.id = ANY(\(sessionIDs))
            """
        var addresses: [UUID: InstallAddress?] = [:]
        for row in try await db.query(query.readOnly()) {
            let isDeleted = try row.decode("id", as: UUID?.self) == nil
            addresses.updateValue(isDeleted ? nil : try InstallAddress(row: row), forKey: try row.decode("session_id"))
        }
        return addresses
    }

    /// Deletes the given installations that are not needed: installations without a user, an unsettled push, a session, or a pending claim.
    ///
    /// Call in a transaction: the rows are locked first and checked by a second statement, so that it sees a push that was addressed,
    /// or a session that was started, in between. Delivery pages need no check: their deliveries are meant for the installation's
    /// user, and are not sent after the installation has lost that user.
    ///
    /// - Returns: The number of deleted installations.
    @discardableResult
    public func deleteUnneeded(ids: [UUID]) async throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        try await db.execute("SELECT FROM push_installs WHERE id = ANY(\(ids)) AND user_id IS NULL ORDER BY id FOR UPDATE")
        return try await db.execute(
            """
            DELETE FROM push_installs p
            WHERE p.id = ANY(\(ids)) AND p.user_id IS NULL
              AND NOT EXISTS (SELECT FROM deliveries d WHERE d.install_id = p.id AND d.state IN ('pending', 'sending'))
              AND NOT EXISTS (SELECT FROM sessions s WHERE s.install_id = p.id)
              AND NOT EXISTS (SELECT FROM install_hand_overs h WHERE h.install_id = p.id AND h.state = 'pending')
            """)
    }
}
