internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import Hummingbird
internal import Logging
internal import PostgresClient
internal import Push
internal import WireFormat

/// Answers `POST /api/v1/ekyc/sessions/{id}/token`, and in extensions `POST /api/v1/auth/refresh` and `POST /api/v1/auth/logout`.
struct TokenController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys
    let sessions: SessionController
    let deviceKeys: DeviceKeyGate
    let newDevices: NewDeviceGate
    let lifetimes: SignInLifetimes

    /// Exchanges a succeeded sign-in for a token pair, within five minutes, on the device that signed in.
    ///
    /// A device that lost the answer gets the same pair again within that time, unless the pair was refreshed or revoked meanwhile. A
    /// sign-in that was uploaded with a proof of a key is redeemed with that key only, and its tokens are refreshed with it only.
    ///
    /// On a device that is new to the account ``NewDeviceGate`` asks for a mailed code first.
    func redeem(_ call: APICall<KeyedSender<String>, UUID, RedeemBody>) async throws -> TokenReply {
        let (context, proof) = (call.context, call.sender.proof)
        let session = try await sessions.find(call.target, token: call.sender.value)
        try deviceKeys.check(proof, against: session.deviceKey)
        let tokens = keys.tokens(redeeming: session.id, with: call.sender.value)
        let redemption = try await postgres.withTransaction { transaction -> Redemption in
            let needsCode = try await newDevices.needsCode(session, proof, in: transaction)
            if needsCode, let refusal = try await newDevices.refusal(of: session, call.body.code, in: transaction, context) {
                return .refused(refusal)
            }
            let sessions = SessionRepository(transaction)
            if let session = try await sessions.redeem(id: session.id, tokenHash: session.tokenHash, needsCode: needsCode) {
                // Before the lock of the installation, as an upload does.
                try await DeviceKeyGate.use(proof, in: transaction)
                let pair = try await mint(tokens[0], for: session, proof, in: transaction, context)
                try await record(.signedIn, of: pair, context, in: transaction)
                return .first(pair, tokens[0])
            }
            guard try await sessions.isRedeemed(id: session.id, tokenHash: session.tokenHash) else { return .none }
            for candidate in tokens {
                if let pair = try await AccessTokenRepository(transaction).find(accessHash: candidate.access.hash) {
                    try deviceKeys.check(proof, against: pair.deviceKey?.thumbprint)
                    try await DeviceKeyGate.use(proof, in: transaction)
                    return .again(pair, candidate)
                }
            }
            return .none
        }
        switch redemption {
        case .first(let pair, let tokens):
            context.logger.info("signed in", metadata: ["session_id": "\(session.id.wireString)"])
            return reply(pair, tokens)
        case .again(let pair, let tokens): return reply(pair, tokens)
        case .refused(let refusal): throw refusal
        case .none: throw Self.refusal(session)
        }
    }

    /// The result of a request for the tokens of a sign-in.
    private enum Redemption: Sendable {
        case first(AccessToken, TokenPair)
        /// The tokens of an earlier request whose answer may have been lost.
        case again(AccessToken, TokenPair)
        /// The sign-in needs a code; what the refusal is about is committed.
        case refused(APIError)
        case none
    }

    /// Signs the device of a session in: ends the user's earlier sign-ins on it, binds its installation to the user, and tells the user's
    /// other devices if it is a new one.
    private func mint(
        _ tokens: TokenPair, for session: Session, _ proof: DeviceProof?, in transaction: PostgresTransaction,
        _ context: APIRequestContext
    ) async throws -> AccessToken {
        let pairs = AccessTokenRepository(transaction)
        let isNews = try await pairs.isNews(signInBy: proof?.key.thumbprint, on: session.installationKey, of: session.userID)
        if let key = session.installationKey {
            try await pairs.supersede(userID: session.userID, installationKey: key)
        }
        let signInID = UUID()
        let installID = try await handOver(to: session, signInID, in: transaction, context)
        if isNews {
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

    /// The error for a session that gives no token.
    private static func refusal(_ session: Session) -> APIError {
        if session.event != .signIn { return APIError(.forbidden, "Only a sign-in gives a token") }
        if !session.state.isTerminal {
            return APIError(.requestInProgress, "The sign-in is not decided yet", retryAfter: 1)
        }
        if session.state != .succeeded { return APIError(.forbidden, "The sign-in did not succeed") }
        return APIError(.forbidden, "The sign-in was denied elsewhere, its tokens were refreshed or revoked, or it was too long ago")
    }

    /// Records an event of the sign-in of a pair. A used refresh token proves no identity, so it names no actor.
    func record(
        _ action: AuditAction, _ result: AuditResult = .succeeded, of pair: AccessToken, _ context: APIRequestContext,
        in transaction: PostgresTransaction
    ) async throws {
        let actor: AuditActor = result == .succeeded ? .user(pair.userID) : .anonymous
        try await AuditRepository(transaction).append(
            keys.auditEntry(action, result, by: actor, on: pair.userID, object: pair.familyID, context))
    }

    func reply(_ pair: AccessToken, _ tokens: TokenPair) -> TokenReply {
        let left = Int(pair.expiresAt.timeIntervalSinceNow.rounded(.up))
        return TokenReply(
            tokens: tokens, expiresIn: min(max(left, 0), Int(lifetimes.access.components.seconds)), userID: pair.userID)
    }
}
