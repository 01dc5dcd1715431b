internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Storage

/// Binds installations to the users who are signed in on them and removes them again, each in one transaction.
///
/// An installation belongs to the user who registered it last. A registration may take it over, a token sent along with an image
/// order may not: an app registers with the bearer of its signed-in user, and only the app itself has its token.
struct DeviceRegistrar: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys

    /// Registers the installation of a sign-in's app.
    ///
    /// Binds the sign-in to it, so that its logout removes the installation. Removes the installation that the sign-in was bound to
    /// before, because the sign-in has left it.
    ///
    /// - Throws: `unauthorized` when the sign-in has ended meanwhile.
    func register(_ device: DeviceBody, by identity: Identity) async throws -> PushInstall {
        var registration = try keys.registration(of: device.target, seenAt: Date())
        registration.platform = device.platform
        registration.appVersion = device.appVersion
        registration.locale = device.locale
        let key = registration.installationKey
        let new = registration
        return try await postgres.withTransaction { transaction in
            let former = try await bindInstallation(identity, to: key, transaction)
            let installs = PushInstallRepository(transaction)
            let registered = try await installs.register(new, userID: identity.userID)
            Self.countRemoved(registered.removedIDs.count)
            if let former { try await remove(former, of: identity.userID, transaction) }
            return registered.install
        }
    }

    /// Removes an installation of a user, unless it belongs to another user by now or has another token.
    ///
    /// - Parameter target: The value that the app gives up: a Firebase installation id matches any value of its installation, a token only
    ///   itself. Nil for the installation that the sign-in is bound to.
    func unregister(_ target: PushTarget?, by identity: Identity) async throws {
        guard let key = target.map(keys.installationKey) ?? identity.installationKey else { return }
        let valueHash = target.flatMap { $0.kind == .token ? keys.valueHash($0) : nil }
        try await postgres.withTransaction { transaction in
            try await remove(key, of: identity.userID, holding: valueHash, transaction)
        }
    }

    /// Binds the sign-in to the installation, and returns the key of the one it was bound to before.
    private func bindInstallation(_ identity: Identity, to key: [UInt8], _ transaction: PostgresTransaction) async throws -> [UInt8]? {
        guard let signInID = identity.signInID else { return nil }
        switch try await AccessTokenRepository(transaction).bindInstallation(familyID: signInID, of: identity.userID, to: key) {
        case .bound: return nil
        case .moved(let former): return former
        case .revoked: throw APIError.unauthorized("The bearer token is unknown or over")
        }
    }

    private func remove(
        _ key: [UInt8], of userID: UUID, holding valueHash: [UInt8]? = nil, _ transaction: PostgresTransaction
    ) async throws {
        let id = try await PushInstallRepository(transaction).unregister(installationKey: key, userID: userID, holding: valueHash)
        guard id != nil else { return }
        try await PresenceRepository(transaction).hide(installationKey: key, userID: userID)
        Self.countRemoved(1)
    }

    /// Counts installations that were deleted because no user is signed in on them any more, or because their user had too many. A sender
    /// that claims a push to one skips it. Counted in the transaction: one that fails to commit counts too many.
    static func countRemoved(_ count: Int) { Counter(label: "push_installs_removed_total").increment(by: count) }
}
