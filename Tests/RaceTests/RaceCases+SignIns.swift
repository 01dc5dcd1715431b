import Accounts
import Foundation
import HeliographCrypto
import PostgresClient
import Schema
import WireFormat

@testable import IdentityAPI

extension RaceCase {
    /// Races of sign-ins.
    static let signIns: [RaceCase] = [
        RaceCase(
            "a sign-in with the former e-mail begins / the e-mail changes", (.identityAPI, RaceCheck.accountOfEmail),
            (.identityAPI, RaceCheck.signInHolds)
        ) { world in
            let email = try world.newEmail()
            let user = try await world.account(email)
            let change = try await world.askForChange(of: user, by: try await world.signIn(user).pair.familyID)
            let (session, token) = (UUID(), OpaqueToken.generate())
            return Race(world.beginSignIn(email, sessionID: session, token: token), world.enterCode(of: change)) { ending in
                let isRedeemed = try await world.redeemOnceDecided(session, of: user, token.hash)
                return ending.effects == [true, true] && isRedeemed
            }
        },
        RaceCase(
            "a sign-in is redeemed / all sign-ins end", (.identityAPI, "UPDATE sessions SET redeemed_at"),
            (.identityAPI, "SELECT family_id, pg_advisory_xact_lock")
        ) { world in
            let user = try await world.account(try world.newEmail())
            let session = try await world.decidedSignIn(of: user)
            let redeem: Race.Transaction = { client in
                try await client.withTransaction { transaction in
                    let sessions = SessionRepository(transaction)
                    guard let found = try await sessions.redeem(id: session.id, tokenHash: session.tokenHash) else { return false }
                    try await AccessTokenRepository(transaction).insert(
                        NewAccessToken(
                            userID: found.userID, sessionID: found.id, accessHash: SecureRandom.bytes(32),
                            refreshHash: SecureRandom.bytes(32), installationKey: nil, lifetimes: SignInLifetimes()))
                    return true
                }
            }
            return Race(redeem, endAll(of: user)) { _ in try await world.isSignedIn(user) }
        },
        RaceCase(
            "a refresh token is exchanged / it is exchanged again", (.identityAPI, "AS is_recent"), (.identityAPI, "AS is_recent")
        ) { world in
            let user = try await world.account(try world.newEmail())
            let signIn = try await world.signIn(user)
            return Race(refresh(signIn.refreshHash), refresh(signIn.refreshHash)) { $0.effects == [true, true] }
        },
        RaceCase(
            "a refresh token is exchanged / its device signs out", (.identityAPI, "AS is_recent"), (.identityAPI, RaceCheck.pair)
        ) { world in
            let user = try await world.account(try world.newEmail())
            let signIn = try await world.signIn(user)
            return Race(refresh(signIn.refreshHash), signOut(signIn.accessHash)) { ending in
                let isSignedIn = try await world.isSignedIn(user)
                return ending.effects[1] && isSignedIn
            }
        },
        RaceCase(
            "a sign-in changes the e-mail / it ends", (.identityAPI, RaceCheck.signInHolds), (.identityAPI, RaceCheck.pair)
        ) { world in
            let user = try await world.account(try world.newEmail())
            let signIn = try await world.signIn(user)
            let change = try await world.askForChange(of: user, by: signIn.pair.familyID)
            return Race(world.enterCode(of: change), signOut(signIn.accessHash)) { $0.isOvertaken(0) }
        },
        RaceCase(
            "a sign-in replaces the face / all sign-ins end", (.faceMatchingWorker, RaceCheck.signInHolds),
            (.identityAPI, "SELECT family_id, pg_advisory_xact_lock")
        ) { world in
            let user = try await world.account(try world.newEmail())
            let upload = world.signUp(of: user, by: try await world.signIn(user).pair.familyID)
            return Race(try await world.enrolment(of: upload), endAll(of: user)) { $0.isOvertaken(0) }
        },
    ]

    private static func endAll(of user: UUID) -> Race.Transaction {
        { client in
            _ = try await client.withTransaction { try await SignInRepository($0).endAll(of: user) }
            return true
        }
    }

    private static func refresh(_ refreshHash: [UInt8]) -> Race.Transaction {
        { client in
            let result = try await client.withTransaction { transaction in
                try await AccessTokenRepository(transaction).rotate(
                    refreshHash: refreshHash, newAccessHash: SecureRandom.bytes(32), newRefreshHash: SecureRandom.bytes(32),
                    lifetimes: SignInLifetimes())
            }
            if case .rotated = result { return true } else { return false }
        }
    }

    private static func signOut(_ accessHash: [UInt8]) -> Race.Transaction {
        { client in
            try await client.withTransaction { transaction in
                guard let revoked = try await AccessTokenRepository(transaction).revoke(accessHash: accessHash) else { return false }
                _ = try await SignInRepository(transaction).signOut(deviceOf: revoked)
                return true
            }
        }
    }
}

extension RaceWorld {
    /// Makes a sign-in that was uploaded, and succeeded.
    func decidedSignIn(of user: UUID) async throws -> (id: UUID, tokenHash: [UInt8]) {
        let new = NewSession(userID: user, event: .signIn, attemptKey: UUID(), tokenHash: SecureRandom.bytes(32))
        try await owner.withTransaction { transaction in
            try await SessionRepository(transaction).insert(new)
            _ = try await SessionRepository(transaction).complete(id: new.id, outcome: .succeeded)
        }
        return (new.id, new.tokenHash)
    }

    /// Whether a sign-in that began gives tokens of an account once its face is recognised.
    fileprivate func redeemOnceDecided(_ session: UUID, of user: UUID, _ tokenHash: [UInt8]) async throws -> Bool {
        try await owner.withTransaction { transaction in
            _ = try await SessionRepository(transaction).complete(id: session, outcome: .succeeded)
            return try await SessionRepository(transaction).redeem(id: session, tokenHash: tokenHash)?.userID == user
        }
    }

    /// Whether an account has a pair that is not revoked.
    fileprivate func isSignedIn(_ user: UUID) async throws -> Bool {
        try await exists("SELECT FROM access_tokens WHERE user_id = \(user) AND revoked_at IS NULL")
    }
}
