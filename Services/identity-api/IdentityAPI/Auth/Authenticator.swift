internal import Accounts
internal import FoundationEssentials
internal import Hummingbird
internal import PostgresClient
internal import Push

/// The sender of a request.
struct Identity: Sendable, Equatable {
    let userID: UUID
    /// The sign-in of the bearer token; nil when another system manages sign-ins.
    var signInID: UUID?
    /// The installation that the sign-in is bound to; nil until it has registered. If another system manages the caller's sign-ins, it is
    /// the installation that the request names, provided that it is registered to the user.
    var installationKey: [UInt8]?
    /// The thumbprint of the key that the sign-in is bound to; nil for a sign-in without a key.
    var deviceKey: [UInt8]?
    /// The proof of that key, in a request that needs a recent sign-in or the key. Its handler uses it up.
    var proof: DeviceProof?
    /// When the sender has last proven who they are, as a sign-in does and a refresh does not; nil when it is unknown.
    var authenticatedAt: Date?

    /// The time after a sign-in during which it allows requests that a stolen token must not allow.
    static let recentSignInTime = SignInRepository.recentTime

    /// Refuses a sender whose sign-in is not recent. Call it before a change by which the thief of a token could lock the owner out.
    ///
    /// - Throws: `reauthentication_required`.
    func requireRecentSignIn(now: Date) throws(APIError) {
        guard let authenticatedAt, now.timeIntervalSince(authenticatedAt) <= Self.recentSignInTime / .seconds(1) else {
            throw APIError(.reauthenticationRequired, "This needs a sign-in of the last five minutes; sign in again")
        }
    }
}

/// Identifies the owner of a bearer token. Each kind of token has a conformance; ``BearerAuthenticator`` chooses.
protocol Authenticator: Sendable {
    /// Returns the owner of a token; nil for a token that is unknown, revoked or expired.
    ///
    /// - Parameter installation: The installation that the request names by `X-Firebase-Installation-ID`, for tokens that do not tell.
    func authenticate(bearer token: String, on installation: PushTarget?) async throws -> Identity?
}

extension Authenticator {
    /// Returns the owner of a token of a request that names no installation; nil as above.
    func authenticate(bearer token: String) async throws -> Identity? { try await authenticate(bearer: token, on: nil) }

    /// Returns the owner of a token.
    ///
    /// - Throws: `unauthorized` for a token that is unknown, revoked or expired.
    func identify(bearer token: String, on installation: PushTarget? = nil) async throws -> Identity {
        guard let identity = try await authenticate(bearer: token, on: installation) else { throw APIError.bearerEnded }
        return identity
    }

    /// Returns the sender of a request that needs a bearer token.
    func identify(_ request: Request) async throws -> Identity {
        try await identify(bearer: try request.requiredBearer(), on: request.headers[.installation].flatMap { PushTarget($0) })
    }
}

/// Tells during a long response whether the sign-in that asked for it still holds.
struct SignInWatch: Sendable {
    /// The time between two checks. A signed-out device gets the response for little longer than this.
    static let interval = Duration.seconds(10)

    let authenticator: any Authenticator
    let token: String
    let userID: UUID

    /// Returns whether the token still names the user.
    func holds() async throws -> Bool { try await authenticator.authenticate(bearer: token)?.userID == userID }

    /// Returns when the sign-in has ended, or the task is cancelled. While it cannot be looked up, it counts as valid.
    func end() async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            if let holds = try? await holds(), !holds { return }
        }
    }
}

/// Authenticates the access tokens that this system minted.
struct AccessTokenAuthenticator: Authenticator {
    let postgres: PostgresClient

    func authenticate(bearer token: String, on _: PushTarget?) async throws -> Identity? {
        try await AccessTokenRepository(postgres).find(accessHash: OpaqueToken.hash(token)).map {
            Identity(
                userID: $0.userID, signInID: $0.familyID, installationKey: $0.installationKey, deviceKey: $0.deviceKey?.thumbprint,
                authenticatedAt: $0.signedInAt)
        }
    }
}

extension Request {
    /// The bearer token of a request that needs one.
    func requiredBearer() throws(APIError) -> String {
        guard let token = try headers.bearer() else { throw APIError.unauthorized("A bearer token is needed") }
        return token
    }
}

extension APIError {
    static var bearerEnded: APIError { unauthorized("The bearer token is unknown, or has ended") }
}
