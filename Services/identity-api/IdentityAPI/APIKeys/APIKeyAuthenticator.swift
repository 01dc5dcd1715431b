internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import Hummingbird
internal import PostgresClient
internal import Push

/// The app's own server that sends a request, by its credential.
struct ServiceIdentity: Sendable, Equatable {
    let credentialID: UUID
    let app: String
    let scopes: Set<ServiceScope>
}

/// Identifies the credential of an API key (`hgk_…`), which apps' own servers send as their bearer token.
struct APIKeyAuthenticator: Sendable {
    let postgres: PostgresClient
    /// Identifies users, to tell a user's token, which is refused, from an unknown one.
    let users: any Authenticator
    /// Limits the requests with one credential.
    let limiter: RateLimiter<UUID>

    /// Whether a request is sent with a key, valid or not.
    static func isUsed(in request: Request) throws(APIError) -> Bool {
        try request.headers.bearer().map { $0.hasPrefix(ServiceKey.prefix) } ?? false
    }

    /// Returns the sender of a request that needs a key with a scope, and counts the request.
    ///
    /// - Throws: `unauthorized` without a valid token of any kind; `forbidden` for a user's token and without the scope; `rate_limited`.
    func identify(_ request: Request, for scope: ServiceScope) async throws -> ServiceIdentity {
        let bearer = try request.requiredBearer()
        guard bearer.hasPrefix(ServiceKey.prefix) else {
            _ = try await users.identify(bearer: bearer)
            throw APIError(.forbidden, "An API key is needed, not a user's token")
        }
        let identity = try await identify(key: bearer)
        guard identity.scopes.contains(scope) else { throw APIError(.forbidden, "The API key lacks the scope \(scope.rawValue)") }
        if let wait = limiter.take(identity.credentialID) {
            throw APIError.rateLimited("Too many requests with this API key", wait: wait)
        }
        return identity
    }

    /// Returns the credential of a key, and records that it is used.
    ///
    /// - Throws: `unauthorized`, with one message for every reason.
    func identify(key text: String) async throws -> ServiceIdentity {
        let unknown = APIError.unauthorized("The API key is unknown, or has ended")
        guard let key = ServiceKey(text) else { throw unknown }
        let credentials = ServiceCredentialRepository(postgres)
        guard let credential = try await credentials.find(id: key.credentialID),
            constantTimeEqual(credential.secretHash, key.secretHash), credential.isValid()
        else { throw unknown }
        try await credentials.markUsed(credential)
        return ServiceIdentity(credentialID: credential.id, app: credential.app, scopes: credential.scopes)
    }
}

/// Authenticates users, and refuses API keys with 403 where a user is needed.
struct UserAuthenticator: Authenticator {
    let users: any Authenticator
    let services: APIKeyAuthenticator

    func authenticate(bearer token: String, on installation: PushTarget?) async throws -> Identity? {
        guard token.hasPrefix(ServiceKey.prefix) else { return try await users.authenticate(bearer: token, on: installation) }
        _ = try await services.identify(key: token)
        throw APIError(.forbidden, "A user's token is needed, not an API key")
    }
}
