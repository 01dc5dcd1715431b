public import FoundationEssentials
public import PostgresClient
internal import Push

extension SignInRepository {
    /// Deletes installations of users whose sign-ins on them have ended, unless the user is still or again signed in on them.
    /// Installations that were bound without a sign-in, by a claim, are left alone. Call in the transaction that ended the sign-ins.
    ///
    /// - Returns: The ids of the deleted installations.
    public func unregisterSignedOut(_ ended: [AccessToken]) async throws(PostgresError) -> [UUID] {
        var devices: [Device] = []
        for token in ended {
            guard let key = token.installationKey else { continue }
            let device = Device(userID: token.userID, installationKey: key)
            if !devices.contains(device) { devices.append(device) }
        }
        let tokens = AccessTokenRepository(db)
        var removed: [UUID] = []
        for device in try await signedOut(devices) {
            // The lock waits for a concurrent login, so that the second check sees its tokens and its installation.
            try await tokens.lock(loginOf: device.userID, on: device.installationKey)
            guard try await !signedOut([device]).isEmpty else { continue }
            if let id = try await PushInstallRepository(db).unregister(installationKey: device.installationKey, userID: device.userID) {
                removed.append(id)
            }
        }
        return removed
    }

    private struct Device: Hashable {
        let userID: UUID
        let installationKey: [UInt8]
    }

    /// Returns the devices on which their user is not signed in, in the order for locking.
    private func signedOut(_ devices: [Device]) async throws(PostgresError) -> [Device] {
        guard !devices.isEmpty else { return [] }
        let rows = try await db.query(
            """
            SELECT d.user_id, d.installation_key
            FROM unnest(\(devices.map(\.userID)), \(devices.map(\.installationKey))) AS d (user_id, installation_key)
            WHERE NOT EXISTS (
                SELECT FROM access_tokens t
                WHERE t.user_id = d.user_id AND t.installation_key = d.installation_key AND t.revoked_at IS NULL
                  AND t.refresh_expires_at > now())
            ORDER BY d.user_id, d.installation_key
            """)
        return try rows.map { row throws(PostgresError) in
            Device(userID: try row.decode("user_id"), installationKey: try row.decode("installation_key"))
        }
    }
}
