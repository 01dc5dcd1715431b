internal import Accounts
internal import Hummingbird
internal import Logging
internal import PostgresClient

extension TokenController {
    /// Rotates a refresh token. For 30 seconds the replaced token gets the same new pair, unless that pair was used; any other reuse of a
    /// refresh token revokes its whole family.
    ///
    /// A token whose sign-in has a key does nothing without a proof of it, so that the thief of the token cannot even end the sign-in; a
    /// proof that was used before does nothing, too. The first proof that comes with the token of a sign-in without a key binds it.
    func refresh(_ call: APICall<KeyedSender<Void>, Void, RefreshBody>) async throws -> TokenReply {
        let (presented, proof, context) = (call.body.token, call.sender.proof, call.context)
        let tokens = keys.tokens(refreshing: presented)
        let result = try await postgres.withTransaction { transaction in
            let result = try await AccessTokenRepository(transaction).rotate(
                refreshHash: OpaqueToken.hash(presented), newAccessHash: tokens[0].access.hash,
                newRefreshHash: tokens[0].refresh.hash, otherRefreshHashes: tokens.dropFirst().map(\.refresh.hash),
                deviceKey: proof?.key, lifetimes: lifetimes)
            switch result {
            case .rotated, .repeated, .reused: try await DeviceKeyGate.use(proof, in: transaction)
            case .otherKey, .unknown: break
            }
            switch result {
            case .reused(let revoked?):
                DeviceRegistrar.countRemoved(try await SignInRepository(transaction).signOut(deviceOf: revoked).removedInstalls.count)
                try await record(.refreshTokenReused, .refused, of: revoked, context, in: transaction)
            case .otherKey(isNews: true, let pair): try await record(.deviceKeyRefused, .refused, of: pair, context, in: transaction)
            default: break
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
        case .otherKey: throw deviceKeys.refusal(ofKey: proof)
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
}
