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

extension AccessTokenRepository {
    /// The time after its last sign-in or refresh during which an installation is known to an account: 30 days.
    public static let knownInstallationTime: Duration = .seconds(30 * 24 * 60 * 60)

    /// Whether an installation has signed in to an account within ``knownInstallationTime``, signed out since or not.
    public func isKnown(installationKey: [UInt8], to userID: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = """
            SELECT \(unescaped: Self.isKnownCondition("s.installation_key", to: "s.user_id")) AS known
            FROM (SELECT \(userID)::uuid AS user_id, \(installationKey)::bytea AS installation_key) s
            """
        return try await db.query(query.readOnly()).first?.decode("known", as: Bool.self) ?? false
    }

    /// Whether the other devices of a user get a push about a sign-in on an installation: it is not known to the account, and the user has
    /// other installations that pushes are sent to. Call in the transaction that mints the pair, before ``insert(_:)``.
    ///
    /// - Parameter installationKey: The installation of the sign-in; `nil` for an unknown one.
    public func isNews(signInOn installationKey: [UInt8]?, of userID: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = """
            SELECT NOT \(unescaped: Self.isKnownCondition("s.installation_key", to: "s.user_id")) AND EXISTS (
                SELECT FROM push_installs i
                WHERE i.user_id = s.user_id AND i.state <> 'invalid' AND i.installation_key IS DISTINCT FROM s.installation_key) AS is_news
            FROM (SELECT \(userID)::uuid AS user_id, \(installationKey)::bytea AS installation_key) s
            """
        return try await db.query(query.readOnly()).first?.decode("is_news", as: Bool.self) ?? false
    }

    /// Makes the SQL condition that an installation is known to a user, from the SQL expressions of both.
    static func isKnownCondition(_ installation: String, to user: String) -> String {
        """
        EXISTS (SELECT FROM access_tokens k WHERE k.user_id = \(user) AND k.installation_key = \(installation)
            AND k.created_at > now() - interval '\(knownInstallationTime.components.seconds) seconds')
        """
    }

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
        try await db.execute("UPDATE access_tokens SET installation_key = \(installationKey) WHERE family_id = \(familyID)")
        return former.map { .moved(from: $0) } ?? .bound
    }
}
