internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage

extension TokenController {
    /// Unregisters the installation of a caller whose sign-in an identity provider manages, unless another user has signed in on it since.
    ///
    /// The provider's token stays valid until it expires: the app signs out with the provider.
    func logoutOfProvider(_ request: Request) async throws -> Response {
        let identity = try await authenticator.identify(request)
        if let key = identity.installationKey {
            try await postgres.withTransaction { transaction in
                let removed = try await SignInRepository(transaction).unregister([key], of: identity.userID)
                DeviceRegistrar.countRemoved(removed.count)
            }
        }
        return Answer.success("Logged out", data: .null)
    }
}
