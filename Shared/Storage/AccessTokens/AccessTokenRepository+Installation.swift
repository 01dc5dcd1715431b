public import FoundationEssentials
public import PostgresClient

/// What came of tying a sign-in to an installation.
public enum TiedInstallation: Sendable, Equatable {
    /// The sign-in is tied to it now; before, it was to this other one, which nobody is signed in on any more.
    case moved(from: [UInt8])
    /// The sign-in is tied to it now, or was already.
    case tied
    /// The sign-in has been ended.
    case revoked
}

extension AccessTokenRepository {
    /// How long after its last sign-in or refresh an installation is known to an account: 30 days.
    public static let knownInstallationTime: Duration = .seconds(30 * 24 * 60 * 60)

    /// Whether an installation has signed in to an account within ``knownInstallationTime``, signed out since or not.
    public func isKnown(installationKey: [UInt8], to userID: UUID) async throws(PostgresError) -> Bool {
        let query: PostgresQuery = """
            SELECT \(unescaped: Self.isKnown(installation: "s.installation_key", to: "s.user_id")) AS known
            FROM (SELECT \(userID)::uuid AS user_id, \(installationKey)::bytea AS installation_key) s
            """
        return try await db.query(query.readOnly()).first?.decode("known", as: Bool.self) ?? false
    }

    /// The condition that an installation is known to a user, given the SQL of both.
    static func isKnown(installation: String, to user: String) -> String {
        """
        EXISTS (SELECT FROM access_tokens k WHERE k.user_id = \(user) AND k.installation_key = \(installation)
            AND k.created_at > now() - interval '\(knownInstallationTime.components.seconds) seconds')
        """
    }

    /// Ties a sign-in to the installation that its app runs as, so that its end is the end of the pushes there.
    ///
    /// Other sign-ins of the user on the installation end: an app keeps one pair, so those are in nobody's hands, or in the
    /// wrong ones, and the late logout of one of them must not unbind this one. Sign-ins of other users are left alone; the
    /// installation is bound to one user, and what they end is conditional on that.
    ///
    /// Belongs in a transaction, before the installation is registered: locks are taken in the order login, family, installation.
    ///
    /// - Parameter familyID: The sign-in; see ``AccessToken/familyID``.
    public func tie(
        familyID: UUID, of userID: UUID, to installationKey: [UInt8]
    ) async throws(PostgresError) -> TiedInstallation {
        try await supersede(userID: userID, installationKey: installationKey, except: familyID)
        let rows = try await db.query(
            """
            SELECT installation_key FROM access_tokens
            WHERE family_id = \(familyID) AND user_id = \(userID) AND revoked_at IS NULL LIMIT 1
            """)
        guard let row = rows.first else { return .revoked }
        let former = try row.decode("installation_key", as: [UInt8]?.self)
        guard former != installationKey else { return .tied }
        // The pairs that were rotated away too: a logout may still present one of them.
        try await db.execute("UPDATE access_tokens SET installation_key = \(installationKey) WHERE family_id = \(familyID)")
        return former.map { .moved(from: $0) } ?? .tied
    }
}
