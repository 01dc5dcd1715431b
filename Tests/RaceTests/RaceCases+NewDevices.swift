import Accounts
import Foundation
import HeliographCrypto
import PostgresClient
import Schema
import WireFormat

@testable import IdentityAPI

extension RaceCase {
    /// Races of sign-ins on new devices, which wait for a code or a confirmation.
    static let newDevices: [RaceCase] = [
        RaceCase(
            "a sign-in on a new device is redeemed / it is denied", (.identityAPI, "UPDATE sessions SET redeemed_at"),
            (.identityAPI, "SET denied_at")
        ) { world in
            let (user, session) = try await world.waitingSignIn()
            _ = try await EmailVerificationRepository(world.owner).verify(id: session.id)
            let redeem: Race.Transaction = { client in
                try await client.withTransaction { transaction in
                    try await SessionRepository(transaction).redeem(id: session.id, tokenHash: session.tokenHash, needsCode: true) != nil
                }
            }
            return Race(redeem, deny(session.id, of: user)) { $0.effects == [true, true] }
        },
        RaceCase(
            "a sign-in on a new device is confirmed / it is denied", (.identityAPI, "SET attempts_left = attempts_left - 1"),
            (.identityAPI, "SET denied_at")
        ) { world in
            let (user, session) = try await world.waitingSignIn()
            let confirm: Race.Transaction = { client in
                try await client.withTransaction { transaction in
                    let verifications = EmailVerificationRepository(transaction)
                    guard try await verifications.takeAttempt(toConfirm: session.id, of: user) != nil else { return false }
                    _ = try await verifications.verify(id: session.id)
                    return true
                }
            }
            return Race(confirm, deny(session.id, of: user)) { ending in
                let isRedeemed = try await world.redeems(session)
                return ending.effects[1] && isRedeemed
            }
        },
    ]

    private static func deny(_ session: UUID, of user: UUID) -> Race.Transaction {
        { client in
            try await client.withTransaction { try await EmailVerificationRepository($0).denySignIn(session, of: user) == true }
        }
    }
}

extension RaceWorld {
    /// Makes an account, and a sign-in to it on a new device whose code is mailed.
    fileprivate func waitingSignIn() async throws -> (user: UUID, session: (id: UUID, tokenHash: [UInt8])) {
        let email = try newEmail()
        let user = try await account(email)
        let session = try await decidedSignIn(of: user)
        let new = NewEmailVerification(id: session.id, purpose: .signIn, accountID: user, email: try keys.sealed(email, of: user))
        try await owner.withTransaction { transaction in
            let mail = try await EmailVerificationRepository(transaction).insert(new)
            _ = try await CodeMailRepository(transaction).publish(mail.id)
        }
        return (user, session)
    }

    /// Redeems a sign-in that needs a code; returns whether it gives tokens.
    fileprivate func redeems(_ session: (id: UUID, tokenHash: [UInt8])) async throws -> Bool {
        try await owner.withTransaction { transaction in
            try await SessionRepository(transaction).redeem(id: session.id, tokenHash: session.tokenHash, needsCode: true) != nil
        }
    }
}
