public import FoundationEssentials
public import PostgresClient

extension PushInstallRepository {
    /// Returns the id of an installation that is bound to a user.
    public func boundID(of installationKey: [UInt8], userID: UUID) async throws(PostgresError) -> UUID? {
        let query: PostgresQuery = "SELECT id FROM push_installs WHERE installation_key = \(installationKey) AND user_id = \(userID)"
        return try await db.query(query.readOnly()).first?.decode("id")
    }

    /// Deletes all installations of a user, or all but one, and hides their presence.
    ///
    /// - Returns: The ids of the deleted installations.
    @discardableResult
    public func unregisterAll(of userID: UUID, except installationKey: [UInt8]? = nil) async throws(PostgresError) -> [UUID] {
        try await db.enqueue(
            "DELETE FROM push_presence WHERE user_id = \(userID) AND installation_key IS DISTINCT FROM \(installationKey)::bytea")
        let rows = try await db.query(
            """
            DELETE FROM push_installs
            WHERE user_id = \(userID) AND installation_key IS DISTINCT FROM \(installationKey)::bytea RETURNING id
            """)
        return try rows.column("id")
    }
}
