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

    /// Exchanges a successful sign-in for an access token: once, within five minutes, on the device that signed in.
    func redeem(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let session = try await sessions.find(request, context)
        let (access, refresh) = (OpaqueToken.generate(), OpaqueToken.generate())
        let minted = try await postgres.withTransaction { transaction -> AccessToken? in
            guard let session = try await SessionRepository(transaction).redeem(id: session.id, tokenHash: session.tokenHash)
            else { return nil }
            let tokens = AccessTokenRepository(transaction)
            if let key = session.installationKey {
                try await tokens.supersede(userID: session.userID, installationKey: key)
            }
            if let registered = try await handOver(to: session, in: transaction) {
                try await OutboxRepository(transaction).publish(registered, requestID: context.requestID)
            }
            return try await tokens.insert(
                NewAccessToken(
                    userID: session.userID, sessionID: session.id, accessHash: access.hash, refreshHash: refresh.hash,
                    installationKey: session.installationKey, lifetime: Self.accessLifetime,
                    refreshLifetime: Self.refreshLifetime))
        }
        guard let minted else { throw Self.refusal(session) }
        context.logger.info("signed in", metadata: ["session_id": "\(session.id.uuidString.lowercased())"])
        return Self.answer(minted, access: access, refresh: refresh)
    }

    /// Binds the device of a sign-in to its user, with the token that came with the sign-in, which is the device's newest.
    private func handOver(to session: Session, in transaction: PostgresTransaction) async throws -> RegisteredInstall? {
        let installs = PushInstallRepository(transaction)
        // The push may not have been addressed yet, and then nobody has registered the installation so far.
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

    /// Rotates a refresh token; one that was used before costs its whole family.
    func refresh(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        let presented = try body.requiredText("refresh_token")
        let (access, refresh) = (OpaqueToken.generate(), OpaqueToken.generate())
        let result = try await postgres.withTransaction { transaction in
            let result = try await AccessTokenRepository(transaction).rotate(
                refreshHash: OpaqueToken.hash(presented), newAccessHash: access.hash, newRefreshHash: refresh.hash,
                lifetime: Self.accessLifetime, refreshLifetime: Self.refreshLifetime)
            if case .reused(let revoked?) = result {
                try await Self.signOut(deviceOf: revoked, requestID: context.requestID, in: transaction)
            }
            return result
        }
        switch result {
        case .rotated(let pair):
            return Self.answer(pair, access: access, refresh: refresh)
        case .reused:
            context.logger.warning("a refresh token was used twice; its family is revoked")
            throw APIError.unauthorized("The refresh token was used before; sign in again")
        case .unknown:
            throw APIError.unauthorized("The refresh token is unknown or over")
        }
    }

    /// Revokes the device's tokens and takes its push token away, unless somebody else has signed in on it since.
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

    /// Takes the push token of the device of a revoked sign-in away, unless somebody else has signed in on it since.
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
        return APIError(.forbidden, "The sign-in was exchanged before, or too long ago")
    }

    /// The token response of RFC 6749 §5.1.
    private static func answer(_ pair: AccessToken, access: OpaqueToken, refresh: OpaqueToken) -> Response {
        var response = Answer.json(
            .members(
                ("access_token", .string(access.text)), ("refresh_token", .string(refresh.text)),
                ("token_type", "Bearer"), ("expires_in", .integer(Int(accessLifetime.components.seconds))),
                ("user_id", .string(pair.userID.uuidString.lowercased()))))
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
