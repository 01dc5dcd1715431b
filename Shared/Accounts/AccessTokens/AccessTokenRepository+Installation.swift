public import FoundationEssentials
public import PostgresClient

/// The result of binding a sign-in to an installation.
public enum InstallationBinding: Sendable, Equatable {
    /// The sign-in is bound to the installation now. Before, it was bound to this other one, on which it is no longer signed in.
    case moved(from: [UInt8])
    /// The sign-in is bound to the installation now, or already was.
    case bound
    /// The sign-in was revoked.
    case revoked
}

/// What a device is known to an account by.
public enum KnownDevice: String, Sendable, CaseIterable {
    /// A key of which it has a proof.
    case key
    /// The installation that its app names, which is no secret, and has never had a key.
    case installation
}

extension AccessTokenRepository {
    /// The time after its last sign-in, refresh or sign-out during which a device is known to an account: 30 days.
    public static let knownDeviceTime: Duration = .seconds(30 * 24 * 60 * 60)

    /// Returns what a device is known to an account by; `nil` for a new one.
    ///
    /// - Parameters:
    ///   - deviceKey: The thumbprint of the device's key; `nil` without a proof of one.
    ///   - installationKey: The installation that the app names; `nil` for one that is not trusted.
    public func knownDevice(
        deviceKey: [UInt8]?, installationKey: [UInt8]?, to userID: UUID
    ) async throws(PostgresError) -> KnownDevice? {
        let query: PostgresQuery = """
            SELECT \(unescaped: Self.knownDevice("s")) AS known
            FROM (SELECT \(userID)::uuid AS user_id, \(deviceKey)::bytea AS device_key, \(installationKey)::bytea AS installation_key) s
            """
        return try await db.query(query.readOnly()).required().decodeCaseIfPresent("known")
    }

    /// Whether the other devices of a user get a push about a sign-in on a device: it is not known to the account, and the user has
    /// other installations that pushes are sent to. Call in the transaction that mints the pair, before it ends earlier sign-ins.
    ///
    /// - Parameters:
    ///   - deviceKey: As in ``knownDevice(deviceKey:installationKey:to:)``.
    ///   - installationKey: The installation of the sign-in; `nil` for an unknown one.
    public func isNews(
        signInBy deviceKey: [UInt8]?, on installationKey: [UInt8]?, of userID: UUID
    ) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = """
            SELECT \(unescaped: Self.knownDevice("s")) IS NULL AND EXISTS (
                SELECT FROM push_installs i
                WHERE i.user_id = s.user_id AND i.state <> 'invalid' AND i.installation_key IS DISTINCT FROM s.installation_key) AS is_news
            FROM (SELECT \(userID)::uuid AS user_id, \(deviceKey)::bytea AS device_key, \(installationKey)::bytea AS installation_key) s
            """
        return try await db.query(query.readOnly()).first?.decode("is_news", as: Bool.self) ?? false
    }

    /// Makes the SQL expression of what a device is known to a user by, as in ``KnownDevice``; NULL for a new one.
    ///
    /// - Parameter device: The alias of a row with `user_id`, `device_key` and `installation_key`.
    static func knownDevice(_ device: String) -> String {
        "CASE WHEN \(isKnownKey(device)) THEN 'key' WHEN \(isKnownInstallation(device)) THEN 'installation' END"
    }

    /// SQL condition: the key has a sign-in that has not ended, or one that its device has signed out within ``knownDeviceTime``, since all
    /// sign-ins were ended last.
    private static func isKnownKey(_ device: String) -> String {
        """
        EXISTS (SELECT FROM access_tokens k WHERE k.user_id = \(device).user_id AND k.device_key = \(device).device_key
                AND (k.revoked_at IS NULL AND k.refresh_expires_at > now()
                     OR k.signed_out_at > now() - \(knownTime) AND \(isSinceEndOfAll("k.signed_out_at"))))
        """
    }

    /// SQL condition: the installation got tokens within ``knownDeviceTime``, since all sign-ins were ended last, by sign-ins without keys
    /// alone. An installation that a sign-in was moved to is not known: a thief of its access token can move it.
    private static func isKnownInstallation(_ device: String) -> String {
        let ofInstallation = """
            SELECT FROM access_tokens k
            WHERE k.user_id = \(device).user_id AND k.installation_key = \(device).installation_key AND k.created_at > now() - \(knownTime)
            """
        return """
            EXISTS (\(ofInstallation) AND k.device_key IS NULL AND NOT k.is_moved
                    AND (k.revoked_at IS NULL OR \(isSinceEndOfAll("k.created_at"))))
            AND NOT EXISTS (\(ofInstallation) AND k.device_key IS NOT NULL)
            """
    }

    private static func isSinceEndOfAll(_ time: String) -> String {
        "NOT EXISTS (SELECT FROM users u WHERE u.id = k.user_id AND u.sign_ins_ended_at >= \(time))"
    }

    private static let knownTime = "interval '\(knownDeviceTime.components.seconds) seconds'"

    /// Binds a sign-in to the installation of its app, so that pushes to the installation end with the sign-in.
    ///
    /// Revokes the user's other sign-ins on the installation: an app keeps one pair, so their tokens are lost or stolen, and a late
    /// logout with one of them must not unbind this one. Sign-ins of other users are left alone: the installation is bound to one
    /// user, and a logout unbinds it only from that user.
    ///
    /// Call in a transaction, before the installation is registered: locks are taken in the order login, family, installation.
    ///
    /// - Parameter familyID: The sign-in; see ``AccessToken/familyID``.
    public func bindInstallation(
        familyID: UUID, of userID: UUID, to installationKey: [UInt8]
    ) async throws(PostgresError) -> InstallationBinding {
        try await supersede(userID: userID, installationKey: installationKey, except: familyID)
        let rows = try await db.query(
            """
            SELECT installation_key FROM access_tokens
            WHERE family_id = \(familyID) AND user_id = \(userID) AND revoked_at IS NULL LIMIT 1
            """)
        guard let row = rows.first else { return .revoked }
        let former = try row.decode("installation_key", as: [UInt8]?.self)
        guard former != installationKey else { return .bound }
        // Includes the rotated pairs: a logout may still present one of them.
        try await db.execute(
            """
            UPDATE access_tokens SET installation_key = \(installationKey), is_moved = is_moved OR installation_key IS NOT NULL
            WHERE family_id = \(familyID)
            """)
        return former.map { .moved(from: $0) } ?? .bound
    }
}
