internal import Accounts
internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Push
internal import Topics

/// Binds installations to the users who are signed in on them and removes them again, each in one transaction.
///
/// An installation belongs to one user. An app registers it at once, unless another user has it: then the app has to return a nonce that
/// is pushed to it first (``PossessionCheck``).
struct DeviceRegistrar: Sendable {
    /// The result of a registration.
    enum Outcome: Sendable {
        case registered(PushInstall)
        /// Another user has the installation until the app returns the nonce.
        case pending(InstallHandOver)
    }

    /// Rolls the registration back, because another user has the installation.
    private struct HeldByAnotherUser: Error {}

    let postgres: PostgresClient
    let keys: AccountKeys

    /// Registers the installation of a sign-in's app.
    ///
    /// Binds the sign-in to it, so that its logout removes the installation. Removes the installation that the sign-in was bound to
    /// before, because the sign-in has left it.
    ///
    /// - Throws: `unauthorized` when the sign-in has ended meanwhile; `rate_limited` for too many claims of other users' installations.
    func register(_ device: DeviceBody, by identity: Identity, from origin: PossessionCheck.Origin) async throws -> Outcome {
        var registration = try keys.registration(of: device.target, seenAt: Date())
        registration.platform = device.platform
        registration.appVersion = device.appVersion
        registration.locale = device.locale
        let new = registration
        do {
            return .registered(
                try await postgres.withTransaction { transaction in
                    try await bind(identity, to: new.installationKey, transaction) {
                        try await PushInstallRepository(transaction).registerUnlessHeld(new, userID: identity.userID)
                    }
                })
        } catch is HeldByAnotherUser {
            return .pending(try await claim(new, by: identity, from: origin))
        }
    }

    private func claim(
        _ registration: PushRegistration, by identity: Identity, from origin: PossessionCheck.Origin
    ) async throws -> InstallHandOver {
        let handOver = try await postgres.withTransaction { transaction in
            if let signInID = identity.signInID,
                try await !AccessTokenRepository(transaction).hold(signIn: signInID, of: identity.userID)
            {
                throw APIError.unauthorized("The bearer token is unknown, or has ended")
            }
            return try await PossessionCheck(keys: keys).claim(
                registration, for: identity.userID, signInID: identity.signInID, from: origin, transaction)
        }
        guard let handOver else {
            throw APIError.rateLimited(
                "Too many claims of installations by this account, or of this installation", wait: InstallHandOverLimits.lifetime)
        }
        return handOver
    }

    /// Gives an installation to the user whose app has returned its nonce. It takes effect at once; a repetition changes nothing.
    ///
    /// - Returns: The installation.
    /// - Throws: `not_found` for everything but a pending claim of this sign-in with its nonce; then the app may register again.
    ///   `unauthorized` when the sign-in has ended meanwhile.
    func confirm(_ id: UUID, nonce: String, by identity: Identity) async throws -> PushInstall {
        let refusal = APIError(.notFound, "There is no such claim of this sign-in, or it has ended; register again")
        let nonceHash = OpaqueToken.hash(nonce)
        return try await postgres.withTransaction { transaction in
            let handOvers = InstallHandOverRepository(transaction)
            guard let handOver = try await handOvers.find(id: id, nonceHash: nonceHash, of: identity.userID),
                handOver.signInID == identity.signInID
            else { throw refusal }
            do {
                let install = try await bind(identity, to: handOver.installationKey, transaction) {
                    try await handOvers.complete(handOver)
                }
                PossessionCheck.count("completed")
                return install
            } catch is HeldByAnotherUser {
                throw refusal
            }
        }
    }

    /// Binds a sign-in and then its installation.
    ///
    /// - Parameter register: Registers the installation; returns nil when another user has it.
    /// - Throws: ``HeldByAnotherUser`` for nil: the transaction has to be rolled back.
    private func bind(
        _ identity: Identity, to key: [UInt8], _ transaction: PostgresTransaction, _ register: () async throws -> RegisteredInstall?
    ) async throws -> PushInstall {
        let former = try await bindInstallation(identity, to: key, transaction)
        guard let registered = try await register() else { throw HeldByAnotherUser() }
        Self.countRemoved(registered.removedIDs.count)
        if let former { try await remove(former, of: identity.userID, transaction) }
        return registered.install
    }

    /// Removes an installation of a user, unless it belongs to another user by now or has another token.
    ///
    /// - Parameter target: The value that the app gives up: a Firebase installation id matches any value of its installation, a token only
    ///   itself. Nil for the installation that the sign-in is bound to.
    func unregister(_ target: PushTarget?, by identity: Identity) async throws {
        guard let key = target?.installationKey ?? identity.installationKey else { return }
        let valueHash = target.flatMap { $0.kind == .token ? $0.valueHash : nil }
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
        case .revoked: throw APIError.unauthorized("The bearer token is unknown, or has ended")
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
