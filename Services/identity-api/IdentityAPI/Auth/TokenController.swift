internal import EventBus
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `POST /api/v1/ekyc/sessions/{id}/token`, `POST /api/v1/auth/refresh` and `POST /api/v1/auth/logout`.
struct TokenController: Sendable {
    /// How long an access token is good for.
    static let accessLifetime = Duration.seconds(60 * 60)
    /// How long a refresh token is good for.
    static let refreshLifetime = Duration.seconds(30 * 24 * 60 * 60)
    /// Bytes of a request's JSON.
    private static let maxBodyBytes = 4 * 1024

    let postgres: PostgresClient
    let keys: AccountKeys
    let sessions: SessionController

    /// Exchanges a successful sign-in for an access token, within five minutes, on the device that signed in.
    ///
    /// A device whose answer was lost gets the same pair again in that time, unless the pair was refreshed or revoked meanwhile.
    func redeem(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let session = try await sessions.find(request, context)
        let tokens = keys.tokens(redeeming: session.id, with: try request.requiredBearer())
        let (minted, isFirst) = try await postgres.withTransaction { transaction -> (AccessToken?, Bool) in
            let sessions = SessionRepository(transaction)
            if let session = try await sessions.redeem(id: session.id, tokenHash: session.tokenHash) {
                return (try await mint(tokens, for: session, requestID: context.requestID, in: transaction), true)
            }
            guard try await sessions.isRedeemed(id: session.id, tokenHash: session.tokenHash) else { return (nil, false) }
            return (try await AccessTokenRepository(transaction).find(accessHash: tokens.access.hash), false)
        }
        guard let minted else { throw Self.refusal(session) }
        if isFirst { context.logger.info("signed in", metadata: ["session_id": "\(session.id.uuidString.lowercased())"]) }
        return Self.answer(minted, tokens)
    }

    /// Signs the device of a session in: its user's earlier sign-ins there end, and its installation is bound to the user.
    private func mint(
        _ tokens: TokenPair, for session: Session, requestID: String, in transaction: PostgresTransaction
    ) async throws -> AccessToken {
        let pairs = AccessTokenRepository(transaction)
        if let key = session.installationKey {
            try await pairs.supersede(userID: session.userID, installationKey: key)
        }
        if let registered = try await handOver(to: session, in: transaction) {
            try await OutboxRepository(transaction).publish(registered, requestID: requestID)
        }
        return try await pairs.insert(
            NewAccessToken(
                userID: session.userID, sessionID: session.id, accessHash: tokens.access.hash,
                refreshHash: tokens.refresh.hash, installationKey: session.installationKey,
                lifetime: Self.accessLifetime, refreshLifetime: Self.refreshLifetime))
    }

    /// Binds the device of a sign-in to its user, with the token that came with the sign-in, which is the device's newest.
    private func handOver(to session: Session, in transaction: PostgresTransaction) async throws -> RegisteredInstall? {
        let installs = PushInstallRepository(transaction)
        // The push may not have been addressed yet; then the installation is not registered yet.
        if let registration = try keys.registration(of: session) {
            return try await installs.register(registration, userID: session.userID)
        }
        // It was pushed to as a guest's if the device was somebody else's with another token.
        if let guest = try await installs.guests(of: [session]).first, let registration = try keys.registration(ofGuest: guest) {
            let registered = try await installs.register(registration, userID: session.userID)
            try await installs.deleteUnneeded(installationKeys: [guest.installationKey])
            return registered
        }
        guard let key = session.installationKey else { return nil }
        return try await installs.bind(installationKey: key, userID: session.userID)
    }

    /// Rotates a refresh token. Its direct predecessor gets the same pair for 30 seconds, until that is used; any other that was used
    /// before costs its whole family.
    func refresh(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        let presented = try body.requiredText("refresh_token")
        let tokens = keys.tokens(refreshing: presented)
        let result = try await postgres.withTransaction { transaction in
            let result = try await AccessTokenRepository(transaction).rotate(
                refreshHash: OpaqueToken.hash(presented), newAccessHash: tokens.access.hash,
                newRefreshHash: tokens.refresh.hash,
                lifetime: Self.accessLifetime, refreshLifetime: Self.refreshLifetime)
            if case .reused(let revoked?) = result {
                try await Self.signOut(deviceOf: revoked, requestID: context.requestID, in: transaction)
            }
            return result
        }
        switch result {
        case .rotated(let pair), .repeated(let pair):
            return Self.answer(pair, tokens)
        case .reused:
            context.logger.warning("a refresh token was used twice; its family is revoked")
            throw APIError.unauthorized("The refresh token was used before; sign in again")
        case .unknown:
            throw APIError.unauthorized("The refresh token is unknown or over")
        }
    }

    /// Revokes the device's tokens and takes its push token away, unless another user has signed in on it since.
    ///
    /// A user has one sign-in a device: a newer one ended those before it when it was exchanged for its tokens. So whoever
    /// logs out gets no push there any more, and a late logout of an older sign-in finds nothing to end.
    func logout(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let token = try request.requiredBearer()
        let revoked = try await postgres.withTransaction { transaction -> AccessToken? in
            guard let revoked = try await AccessTokenRepository(transaction).revoke(accessHash: OpaqueToken.hash(token))
            else { return nil }
            try await Self.signOut(deviceOf: revoked, requestID: context.requestID, in: transaction)
            return revoked
        }
        guard revoked != nil else { throw APIError.unauthorized("The bearer token is unknown or was revoked before") }
        return Answer.success("Logged out", data: .null)
    }

    /// Takes the push token of the device of a revoked sign-in away, unless another user has signed in on it since.
    private static func signOut(
        deviceOf revoked: AccessToken, requestID: String, in transaction: PostgresTransaction
    ) async throws {
        guard let key = revoked.installationKey else { return }
        let removed = try await PushInstallRepository(transaction).unregister(installationKey: key, userID: revoked.userID)
        try await OutboxRepository(transaction).publish(removed: removed.map { [$0] } ?? [], requestID: requestID)
        try await PresenceRepository(transaction).hide(installationKey: key, userID: revoked.userID)
    }

    /// Why a session gives no token.
    private static func refusal(_ session: Session) -> APIError {
        if session.event != .signIn { return APIError(.forbidden, "Only a sign-in gives a token") }
        if !session.state.isTerminal {
            return APIError(.requestInProgress, "The sign-in is not decided yet", retryAfter: 1)
        }
        if session.state != .succeeded { return APIError(.forbidden, "The sign-in did not succeed") }
        return APIError(.forbidden, "The sign-in's tokens were refreshed or revoked, or it was too long ago")
    }

    /// The token response of RFC 6749 §5.1.
    private static func answer(_ pair: AccessToken, _ tokens: TokenPair) -> Response {
        let left = Int(pair.expiresAt.timeIntervalSinceNow.rounded(.up))
        let seconds = min(max(left, 0), Int(accessLifetime.components.seconds))
        var response = Answer.json(
            .members(
                ("access_token", .string(tokens.access.text)), ("refresh_token", .string(tokens.refresh.text)),
                ("token_type", "Bearer"), ("expires_in", .integer(seconds)),
                ("user_id", .string(pair.userID.uuidString.lowercased()))))
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
