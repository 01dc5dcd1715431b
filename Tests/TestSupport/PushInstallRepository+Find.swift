public import PostgresClient
public import Push

extension PostgresClient {
    /// Returns the rows of installations, with a user and without.
    public func installs(_ keys: [[UInt8]]) async throws -> [PushInstall] {
        let rows = try await query("SELECT id FROM push_installs WHERE installation_key = ANY(\(keys))")
        return try await PushInstallRepository(self).find(ids: try rows.map { try $0.decode("id") })
    }
}
