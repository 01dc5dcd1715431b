public import PostgresClient

extension PushInstallRepository {
    /// Returns the installations of guests to which the results of some sessions were pushed: a session's own token, kept beside the
    /// installation when that is somebody else's (`PushTarget.guestMessages`). None for a session whose push
    /// is not addressed yet, or whose token FCM has called dead.
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
