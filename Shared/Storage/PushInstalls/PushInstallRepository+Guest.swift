public import PostgresClient

extension PushInstallRepository {
    /// Returns the guest installations to which the results of these sessions were pushed. A guest row holds a session's token when the
    /// installation's own row belongs to another user (`PushTarget.unboundKeyInput`). A session has none if its push is not addressed
    /// yet, or if FCM has reported its token as dead.
    public func guests(of sessions: [Session]) async throws(PostgresError) -> [PushInstall] {
        let sessions = sessions.filter { $0.installationKey != nil }
        guard !sessions.isEmpty else { return [] }
        let query: PostgresQuery = """
            SELECT i.*
            FROM unnest(\(sessions.map { Session.notificationKey(of: $0.id) }), \(sessions.compactMap(\.installationKey)))
                AS s (dedupe_key, own_key)
            JOIN notifications n ON n.dedupe_key = s.dedupe_key
            JOIN deliveries d ON d.notification_id = n.id
            JOIN push_installs i ON i.id = d.install_id
            WHERE i.user_id IS NULL AND i.state <> 'invalid' AND i.installation_key <> s.own_key
            """
        return try await installs(db.query(query.readOnly()))
    }
}
