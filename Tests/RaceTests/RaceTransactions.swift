import Accounts
import EventBus
import Foundation
import PostgresClient
import ServiceDefaults
import WireFormat

@testable import FaceMatchingWorker
@testable import IdentityAPI

/// The transactions of the services that race, by their own code.
extension RaceWorld {
    /// Enters the code of a verification, as `POST /v1/auth/verify` does.
    func enterCode(of id: UUID) -> Race.Transaction {
        { client in
            do {
                return try await client.withTransaction { transaction in
                    let verifications = EmailVerificationRepository(transaction)
                    if let change = try await verifications.find(id: id), change.purpose == .emailChange {
                        try await SignInRepository(transaction).lock(of: change.accountID)
                    }
                    guard let verification = try await verifications.takeAttempt(id: id) else { return false }
                    let verified = VerifiedEmail(
                        verification: verification, keys: keys, transaction: transaction, addressKey: keys.addressKey(.none),
                        requestID: "race",
                        traceparent: nil)
                    _ = try await verified.takeEffect()
                    return true
                }
            } catch is APIError {
                return false
            }
        }
    }

    /// Stores the session of a sign-up, and returns what settles it as the worker does.
    func enrolment(of new: NewSession) async throws -> Race.Transaction {
        let session = try await SessionRepository(owner).insert(new)
        let event = Envelope(EkycRequested(sessionID: session.id, event: session.event, lane: .new))
        return { client in
            do {
                return try await client.withTransaction { transaction in
                    let enrolment = Enrolment(sealer: sealer, duplicates: duplicates, findings: nil, transaction: transaction)
                    let settlement = try await enrolment.enrol(face, photos: [], for: session, causedBy: event)
                    let isSettled = try await SessionRepository(transaction).complete(id: session.id, outcome: settlement.outcome)
                    guard isSettled else { throw AlreadySettled() }
                    return settlement.outcome == .succeeded
                }
            } catch is AlreadySettled {
                return false
            }
        }
    }

    /// A sign-up with a bearer of an account.
    func signUp(of user: UUID, by signIn: UUID) -> NewSession {
        NewSession(userID: user, event: .signUp, authorised: true, authorisedBy: signIn, tokenHash: [UInt8](repeating: 7, count: 32))
    }

    /// A sign-up with a proven e-mail.
    func signUp(of user: UUID, provenBy verification: UUID, isRecovery: Bool = false) -> NewSession {
        NewSession(
            userID: user, event: .signUp, verificationID: verification, isRecovery: isRecovery,
            tokenHash: [UInt8](repeating: 7, count: 32))
    }

    /// Begins a sign-in with an e-mail, as an upload does.
    func beginSignIn(_ email: EmailAddress, sessionID: UUID, token: OpaqueToken) -> Race.Transaction {
        { client in
            let starter = SessionStarter(
                postgres: client, keys: keys, admission: SessionAdmission(limits: .none), brakes: SignInBrakes(limits: .none),
                limiter: RateLimiter(Rate(perMinute: 0, burst: 1)))
            let order = SessionOrder(
                form: .signIn, owner: .email(email), target: nil, upload: ReceivedUpload(), fingerprint: [UInt8](repeating: 7, count: 32))
            let origin = SessionStarter.Origin(address: .none, requestID: "race", traceparent: nil, limits: RateLimitRecord())
            _ = try await starter.start(order, nil, nil, sessionID: sessionID, token: token, lease: nil, origin: origin)
            return true
        }
    }

    /// Replaces the faces of due recoveries, as the sweeper of identity-api does.
    func completeRecoveries() -> Race.Transaction {
        { client in
            try await client.withTransaction { transaction in
                let due = try await PendingEnrolmentRepository(transaction).completeRecoveries(limit: 10)
                for user in due.outdated {
                    try await RecoveryCancellation.cancel(of: user, by: .system("race"), detail: "email_changed", in: transaction)
                }
                for user in due.completed { _ = try await SignInRepository(transaction).endAll(of: user, isNoticed: true) }
                return !due.completed.isEmpty
            }
        }
    }
}

/// Thrown to roll back the transaction of a session that was settled elsewhere.
private struct AlreadySettled: Error {}
