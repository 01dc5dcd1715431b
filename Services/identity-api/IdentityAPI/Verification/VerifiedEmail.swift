internal import EventBus
internal import FoundationEssentials
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Takes the effect of a verification whose code was entered, in the transaction that took the attempt.
struct VerifiedEmail {
    let verification: EmailVerification
    let keys: AccountKeys
    let transaction: PostgresTransaction
    let requestID: String
    let traceparent: String?

    /// Takes the effect once; a repetition finds it taken.
    ///
    /// - Returns: The answer's data.
    /// - Throws: `already_enrolled` when the address has an account; the verification has no effect then.
    func takeEffect() async throws -> JSONValue {
        switch verification.purpose {
        case .registration: try await giveToken()
        case .enrolment: try await enrol()
        case .emailChange: try await changeEmail()
        }
    }

    /// Gives the token with which an app signs up with the address.
    private func giveToken() async throws -> JSONValue {
        let token = keys.enrolmentToken(of: verification)
        let verifiedAt = try await EmailVerificationRepository(transaction).verify(id: verification.id, tokenHash: token.hash)
        try await record(.emailVerified)
        let end = verifiedAt.addingTimeInterval(EmailVerificationRepository.tokenLifetime / .seconds(1))
        return .members(
            ("purpose", .string(verification.purpose.rawValue)), ("enrolment_token", .string(token.text)), ("token_type", "Bearer"),
            ("expires_in", .integer(max(0, Int(end.timeIntervalSinceNow.rounded(.up))))))
    }

    /// Creates the account of a sign-up whose face waits.
    private func enrol() async throws -> JSONValue {
        if verification.verifiedAt == nil {
            _ = try await EmailVerificationRepository(transaction).verify(id: verification.id)
            guard try await UserRepository(transaction).create(id: verification.accountID, verified: verification.id),
                try await PendingEnrolmentRepository(transaction).enrol(id: verification.id)
            else { throw APIError.alreadyEnrolled }
            try await record(.faceEnrolled)
        }
        return account
    }

    /// Replaces the e-mail of the account, and ends its other sign-ins.
    private func changeEmail() async throws -> JSONValue {
        if verification.verifiedAt == nil {
            _ = try await EmailVerificationRepository(transaction).verify(id: verification.id)
            do {
                guard try await UserRepository(transaction).setEmail(verification.email, of: verification.accountID) else {
                    throw APIError.unauthorized("The account is gone")
                }
            } catch let error as PostgresError where error.code == .sqlState("23505") {
                throw APIError.alreadyEnrolled
            }
            try await record(.emailChanged)
            _ = try await SignInRepository(transaction).endAll(
                of: verification.accountID, except: verification.signInID, isNoticed: true)
            let alert = AccountAlert.emailChanged.notification(to: verification.accountID, cause: verification.id)
            try await OutboxRepository(transaction).publish(
                alert, requestID: requestID, traceparent: traceparent, expiresAt: alert.expiresAt)
        }
        return account
    }

    private func record(_ action: AuditAction) async throws {
        let actor: AuditActor = verification.purpose == .emailChange ? .user(verification.accountID) : .anonymous
        try await AuditRepository(transaction).append(
            AuditEntry(action, by: actor, on: verification.accountID, object: verification.id, requestID: requestID))
    }

    private var account: JSONValue {
        .members(
            ("purpose", .string(verification.purpose.rawValue)), ("user_id", .string(verification.accountID.wireString)))
    }
}

extension APIError {
    static let alreadyEnrolled = APIError(
        .alreadyEnrolled, "This e-mail address has an account: sign in, or recover the account")
}
