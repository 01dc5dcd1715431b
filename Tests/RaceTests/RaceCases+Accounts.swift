import Accounts
import Foundation
import PostgresClient
import Schema
import ServiceDefaults

@testable import IdentityAPI

/// The texts of the statements by which transactions check.
enum RaceCheck {
    static let signInHolds = "AS held"
    static let provenLookups = "v.email_lookups FROM users JOIN email_verifications"
    static let firstEmail = "first_email_at >="
    static let accountOfEmail = "WHERE id = (SELECT user_id FROM email_lookups"
    static let dueRecovery = "AS is_proven"
    static let recovery = "DELETE FROM pending_enrolments WHERE user_id"
    static let pair = "SELECT * FROM access_tokens WHERE access_hash"
    static let lookupsOfProof = "SELECT email_lookups FROM email_verifications WHERE id"
    static let lookupsOfAccount = "SELECT lookup FROM email_lookups WHERE user_id"
}

extension RaceCase {
    /// Races of the e-mail, the face and the recovery of an account.
    static let accounts: [RaceCase] = [
        RaceCase(
            "a recovery by the former e-mail begins / the e-mail changes", (.faceMatchingWorker, RaceCheck.provenLookups),
            (.identityAPI, RaceCheck.signInHolds)
        ) { world in
            let email = try world.newEmail()
            let user = try await world.account(email)
            let signIn = try await world.signIn(user).pair.familyID
            let recovery = world.signUp(of: user, provenBy: try await world.prove(email), isRecovery: true)
            let change = try await world.askForChange(of: user, by: signIn)
            return Race(try await world.enrolment(of: recovery), world.enterCode(of: change)) { ending in
                let waits = try await world.exists("SELECT FROM pending_enrolments WHERE user_id = \(user)")
                return ending.effects[1] && waits
            }
        },
        RaceCase(
            "a face is enrolled / the account gets its first e-mail", (.faceMatchingWorker, RaceCheck.firstEmail),
            (.identityAPI, RaceCheck.signInHolds)
        ) { world in
            let user = try await world.account(nil)
            let signIn = try await world.signIn(user).pair.familyID
            let change = try await world.askForChange(of: user, by: signIn)
            let upload = world.signUp(of: user, by: signIn)
            return Race(try await world.enrolment(of: upload), world.enterCode(of: change)) { ending in
                let hasFace = try await world.exists("SELECT FROM face_templates WHERE user_id = \(user)")
                return ending.effects[1] && hasFace
            }
        },
        RaceCase(
            "a recovery is completed / it is cancelled", (.identityAPI, RaceCheck.dueRecovery), (.identityAPI, RaceCheck.recovery)
        ) { world in
            let user = try await world.account(try world.newEmail())
            let face = try await world.dueRecovery(of: user)
            let cancel: Race.Transaction = { client in
                try await client.withTransaction { try await RecoveryCancellation.cancel(of: user, in: $0) }
                return true
            }
            return Race(world.completeRecoveries(), cancel) { _ in try await world.isRecovered(user, face) }
        },
        RaceCase(
            "a recovery is completed / the e-mail changes", (.identityAPI, RaceCheck.dueRecovery),
            (.identityAPI, RaceCheck.signInHolds)
        ) { world in
            let user = try await world.account(try world.newEmail())
            let signIn = try await world.signIn(user).pair.familyID
            let face = try await world.dueRecovery(of: user)
            let change = try await world.askForChange(of: user, by: signIn)
            return Race(world.completeRecoveries(), world.enterCode(of: change)) { _ in try await world.isRecovered(user, face) }
        },
        RaceCase(
            "a sign-up takes an e-mail / another one takes it", (.faceMatchingWorker, RaceCheck.lookupsOfProof),
            (.faceMatchingWorker, RaceCheck.lookupsOfProof)
        ) { world in
            let email = try world.newEmail()
            var signUps: [Race.Transaction] = []
            for user in [UUID(), UUID()] {
                signUps.append(try await world.enrolment(of: world.signUp(of: user, provenBy: try await world.prove(email, for: user))))
            }
            return Race(signUps[0], signUps[1]) { $0.effects[0] == $0.effects[1] }
        },
        RaceCase(
            "a face is enrolled / the account is erased", (.faceMatchingWorker, RaceCheck.firstEmail),
            (.identityAPI, RaceCheck.lookupsOfAccount)
        ) { world in
            let user = try await world.account(try world.newEmail())
            let upload = world.signUp(of: user, by: try await world.signIn(user).pair.familyID)
            let erase: Race.Transaction = { client in
                let erasure = ErasureRequest(.account, of: user, for: .user)
                return try await client.withTransaction { try await erasure.begin(by: .user(user), in: $0) } != nil
            }
            return Race(try await world.enrolment(of: upload), erase) { $0.isOvertaken(0) }
        },
    ]
}

extension RaceWorld {
    /// Whether a recovery has replaced the face of an account although it was cancelled.
    fileprivate func isRecovered(_ user: UUID, _ face: [UInt8]) async throws -> Bool {
        let isCancelled = try await exists("SELECT FROM audit_log WHERE subject_id = \(user) AND action = 'recovery_cancelled'")
        let hasFace = try await exists("SELECT FROM face_templates WHERE user_id = \(user) AND template_sealed = \(face)")
        return isCancelled && hasFace
    }
}
