internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import Logging
internal import PostgresClient
internal import Push
internal import WireFormat

/// Answers `POST /api/v1/ekyc/sessions/{id}/token`, `POST /api/v1/auth/refresh` and `POST /api/v1/auth/logout`.
struct TokenController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys
    let sessions: SessionController
    let deviceKeys: DeviceKeyGate
    let lifetimes: SignInLifetimes

    /// Exchanges a succeeded sign-in for a token pair, within five minutes, on the device that signed in.
    ///
    /// A device that lost the answer gets the same pair again within that time, unless the pair was refreshed or revoked meanwhile. A
    /// sign-in that was uploaded with a proof of a key is redeemed with that key only, and its tokens are refreshed with it only.
    func redeem(_ call: APICall<KeyedSender<String>, UUID, EmptyBody>) async throws -> TokenReply {
        let (context, proof) = (call.context, call.sender.proof)
        let session = try await sessions.find(call.target, token: call.sender.value)
        try deviceKeys.check(proof, against: session.deviceKey)
        let tokens = keys.tokens(redeeming: session.id, with: call.sender.value)
        let (minted, isFirst) = try await postgres.withTransaction { transaction -> (minted: (AccessToken, TokenPair)?, Bool) in
            let sessions = SessionRepository(transaction)
            if let session = try await sessions.redeem(id: session.id, tokenHash: session.tokenHash) {
                let pair = try await mint(tokens[0], for: session, proof, in: transaction, context)
                try await DeviceKeyGate.use(proof, in: transaction)
                try await record(.signedIn, of: pair, context, in: transaction)
                return ((pair, tokens[0]), true)
            }
            guard try await sessions.isRedeemed(id: session.id, tokenHash: session.tokenHash) else { return (nil, false) }
            for candidate in tokens {
                if let pair = try await AccessTokenRepository(transaction).find(accessHash: candidate.access.hash) {
                    try deviceKeys.check(proof, against: pair.deviceKey?.thumbprint)
                    try await DeviceKeyGate.use(proof, in: transaction)
                    return ((pair, candidate), false)
                }
            }
            return (nil, false)
        }
        guard let minted else { throw Self.refusal(session) }
        if isFirst { context.logger.info("signed in", metadata: ["session_id": "\(session.id.wireString)"]) }
        return reply(minted.0, minted.1)
    }

    /// Signs the device of a session in: ends the user's earlier sign-ins on it, binds its installation to the user, and tells the user's
    /// other devices if it is a new one.
    private func mint(
        _ tokens: TokenPair, for session: Session, _ proof: DeviceProof?, in transaction: PostgresTransaction,
        _ context: APIRequestContext
    ) async throws -> AccessToken {
        let pairs = AccessTokenRepository(transaction)
        if let key = session.installationKey {
            try await pairs.supersede(userID: session.userID, installationKey: key)
        }
        let signInID = UUID()
        let installID = try await handOver(to: session, signInID, in: transaction, context)
        if try await pairs.isNews(signInOn: session.installationKey, of: session.userID) {
            let alert = AccountAlertPush(.newSignIn, of: session.userID).request(except: installID, cause: session.id)
            try await OutboxRepository(transaction).publish(
                alert, requestID: context.requestID, traceparent: context.traceparent, expiresAt: alert.expiresAt)
        }
        return try await pairs.insert(
            NewAccessToken(
                userID: session.userID, sessionID: session.id, familyID: signInID, accessHash: tokens.access.hash,
                refreshHash: tokens.refresh.hash, installationKey: session.installationKey, deviceKey: proof?.key,
                lifetimes: lifetimes))
    }

    /// Binds the installation of a sign-in to its user, with the push token of the sign-in, which is the device's newest. If another user
    /// has the installation, claims it: the sign-in is valid, but the pushes wait until the app returns the nonce.
    ///
    /// - Returns: The id of the installation; nil when the sign-in has no installation yet.
    private func handOver(
        to session: Session, _ signInID: UUID, in transaction: PostgresTransaction, _ context: APIRequestContext
    ) async throws -> UUID? {
        let installs = PushInstallRepository(transaction)
        guard let installID = session.installID,
            let registration = try await installs.registration(of: installID, seenAt: session.createdAt)
        else { return nil }
        guard let bound = try await installs.registerUnlessHeld(registration, userID: session.userID) else {
            let origin = PossessionCheck.Origin(requestID: context.requestID, traceparent: context.traceparent)
            _ = try await PossessionCheck(keys: keys).claim(
                registration, for: session.userID, signInID: signInID, from: origin, transaction)
            return nil
        }
        DeviceRegistrar.countRemoved(bound.removedIDs.count)
        if bound.install.id != installID {
            let released = try await SessionRepository(transaction).releaseInstall(ofRedeemed: session.id)
            try await installs.deleteUnneeded(ids: released)
        }
        return bound.install.id
    }

    /// Rotates a refresh token. For 30 seconds the replaced token gets the same new pair, unless that pair was used; any other reuse of a
    /// refresh token revokes its whole family.
    ///
    /// A token whose sign-in has a key does nothing without a proof of it, so that the thief of a token cannot even end the sign-in. The
    /// first proof that comes with the token of a sign-in without a key binds it to the proof's key.
    func refresh(_ call: APICall<KeyedSender<Void>, Void, RefreshBody>) async throws -> TokenReply {
        let (presented, proof, context) = (call.body.token, call.sender.proof, call.context)
        let tokens = keys.tokens(refreshing: presented)
        let result = try await postgres.withTransaction { transaction in
            let result = try await AccessTokenRepository(transaction).rotate(
                refreshHash: OpaqueToken.hash(presented), newAccessHash: tokens[0].access.hash,
                newRefreshHash: tokens[0].refresh.hash, otherRefreshHashes: tokens.dropFirst().map(\.refresh.hash),
                deviceKey: proof?.key, lifetimes: lifetimes)
            switch result {
            case .rotated, .repeated:
                try await DeviceKeyGate.use(proof, in: transaction)
            case .reused(let revoked?):
                DeviceRegistrar.countRemoved(try await SignInRepository(transaction).signOut(deviceOf: revoked).removedInstalls.count)
                try await record(.refreshTokenReused, .refused, of: revoked, context, in: transaction)
            case .otherKey(let pair, isNews: true) where proof != nil:
                try await record(.deviceKeyRefused, .refused, of: pair, context, in: transaction)
            case .reused(nil), .otherKey, .unknown: break
            }
            return result
        }
        switch result {
        case .rotated(let pair):
            return reply(pair, tokens[0])
        case .repeated(let pair, let hash):
            return reply(pair, tokens.first { $0.refresh.hash == hash } ?? tokens[0])
        case .reused:
            context.logger.warning("a refresh token was used twice; its family is revoked")
            throw APIError.unauthorized("The refresh token was used before; sign in again")
        case .otherKey(let pair, _):
            try deviceKeys.check(proof, against: pair.deviceKey?.thumbprint)
            throw deviceKeys.refusal(.otherKey)
        case .unknown:
            throw APIError.unauthorized("The refresh token is unknown, or has ended")
        }
    }

    /// Revokes the device's tokens and unregisters its push token, unless another user has signed in on it since.
    ///
    /// A user has one sign-in per device: redeeming a newer one ends the earlier ones. So after a logout the user gets no push there any
    /// more, and a late logout of an older sign-in has nothing to end.
    func logout(_ call: APICall<LeavingSignIn, Void, EmptyBody>) async throws {
        let context = call.context
        let token: String
        switch call.sender {
        case .token(let opaque): token = opaque
        case .provider(let identity): return try await logoutOfProvider(identity)
        }
        let revoked = try await postgres.withTransaction { transaction -> AccessToken? in
            guard let revoked = try await AccessTokenRepository(transaction).revoke(accessHash: OpaqueToken.hash(token))
            else { return nil }
            DeviceRegistrar.countRemoved(try await SignInRepository(transaction).signOut(deviceOf: revoked).removedInstalls.count)
            try await record(.signedOut, of: revoked, context, in: transaction)
            return revoked
        }
        guard revoked != nil else { throw APIError.unauthorized("The bearer token is unknown or was revoked before") }
    }

    /// Records an event of the sign-in of a pair. A used refresh token proves no identity, so it names no actor.
    private func record(
        _ action: AuditAction, _ result: AuditResult = .succeeded, of pair: AccessToken, _ context: APIRequestContext,
        in transaction: PostgresTransaction
    ) async throws {
        let actor: AuditActor = result == .succeeded ? .user(pair.userID) : .anonymous
        try await AuditRepository(transaction).append(
            keys.auditEntry(action, result, by: actor, on: pair.userID, object: pair.familyID, context))
    }

    /// The error for a session that gives no token.
    private static func refusal(_ session: Session) -> APIError {
        if session.event != .signIn { return APIError(.forbidden, "Only a sign-in gives a token") }
        if !session.state.isTerminal {
            return APIError(.requestInProgress, "The sign-in is not decided yet", retryAfter: 1)
        }
        if session.state != .succeeded { return APIError(.forbidden, "The sign-in did not succeed") }
        return APIError(.forbidden, "The sign-in's tokens were refreshed or revoked, or it was too long ago")
    }

    private func reply(_ pair: AccessToken, _ tokens: TokenPair) -> TokenReply {
        let left = Int(pair.expiresAt.timeIntervalSinceNow.rounded(.up))
        return TokenReply(
            tokens: tokens, expiresIn: min(max(left, 0), Int(lifetimes.access.components.seconds)), userID: pair.userID)
    }
}

/// The body that renews tokens.
struct RefreshBody: JSONObjectBody {
    static let fields = BodyFields<RefreshBody>(.word("refresh_token")) { RefreshBody(token: $0) }
    static let maxBytes = 4 * 1_024

    let token: String
}

/// The token object of RFC 6749 §5.1.
struct TokenReply: APIObject {
    static let members: [APIMember<TokenReply>] = [
        .required("access_token", \.tokens.access.text), .required("refresh_token", \.tokens.refresh.text),
        .constant("token_type", "Bearer"), .required("expires_in", \.expiresIn), .required("user_id", \.userID),
    ]

    let tokens: TokenPair
    let expiresIn: Int
    let userID: UUID
}
