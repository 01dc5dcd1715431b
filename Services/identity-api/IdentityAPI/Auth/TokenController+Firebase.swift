internal import Accounts
internal import Hummingbird
internal import PostgresClient

extension TokenController {
    /// Unregisters the installation of a caller whose sign-in an identity provider manages, unless another user has signed in on it since.
    ///
    /// The provider's token stays valid until it expires: the app signs out with the provider.
    func logoutOfProvider(_ identity: Identity) async throws {
        guard let key = identity.installationKey else { return }
        try await postgres.withTransaction { transaction in
            let removed = try await SignInRepository(transaction).unregister([key], of: identity.userID)
            DeviceRegistrar.countRemoved(removed.count)
        }
    }
}

/// The sign-in that a request ends.
enum LeavingSignIn: Sendable {
    /// A sign-in of this system, by its access token.
    case token(String)
    /// A sign-in that an identity provider manages.
    case provider(Identity)
}

extension RequestSender<LeavingSignIn> {
    /// A user who leaves. An access token is not looked up before the transaction that revokes it.
    static let leaving = RequestSender(bearers: [.access]) { request, context, routes in
        let token = try request.requiredBearer()
        guard UnverifiedToken.hasShape(token) else { return .token(token) }
        return .provider(try await routes.gate.user(request, context, nil))
    }
}
