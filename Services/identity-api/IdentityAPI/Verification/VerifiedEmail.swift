internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import JSON
internal import PostgresClient
internal import Push
internal import WireFormat

/// Applies a verification whose code was entered, in the transaction that counted the attempt.
struct VerifiedEmail {
    let verification: EmailVerification
    let keys: AccountKeys
    let transaction: PostgresTransaction
    /// The keyed hash of the client's address.
    let addressKey: [UInt8]
    let requestID: String
    let traceparent: String?

    /// Takes the effect once; a repetition finds it taken.
    ///
    /// - Throws: `already_enrolled` when the address has an account, `face_in_use` when another account has the face of the sign-up, and
    ///   `invalid_code` when the sign-in that asked for another address has ended; the verification has no effect then.
    func takeEffect() async throws -> VerificationEffect {
        switch verification.purpose {
        case .registration: try await giveToken()
        case .enrolment: try await enrol()
        case .emailChange: try await changeEmail()
        case .signIn: throw APIError.invalidCode
        }
    }

    /// Gives the token with which an app signs up with the address.
    private func giveToken() async throws -> VerificationEffect {
        let tokens = keys.enrolmentTokens(of: verification)
        let (verifiedAt, hash) = try await EmailVerificationRepository(transaction).verify(
            id: verification.id, tokenHash: tokens[0].hash)
        guard let token = tokens.first(where: { $0.hash == hash }) else { throw APIError.invalidCode }
        try await record(.emailVerified)
        let end = verifiedAt.addingTimeInterval(EmailVerificationRepository.tokenLifetime / .seconds(1))
        return VerificationEffect(
            purpose: verification.purpose, enrolmentToken: token.text, expiresIn: max(0, Int(end.timeIntervalSinceNow.rounded(.up))))
    }

    /// Creates the account of a sign-up whose face waits. Call it with ``PendingEnrolmentRepository/lock(id:)``.
    private func enrol() async throws -> VerificationEffect {
        if verification.verifiedAt == nil {
            let enrolments = PendingEnrolmentRepository(transaction)
            _ = try await EmailVerificationRepository(transaction).verify(id: verification.id)
            guard try await UserRepository(transaction).create(id: verification.accountID, verified: verification.id) else {
                throw APIError.alreadyEnrolled
            }
            switch try await enrolments.enrol(id: verification.id) {
            case .enrolled: break
            case .nothing: throw APIError.alreadyEnrolled
            case .faceInUse: throw APIError.faceInUse
            }
            try await record(.faceEnrolled)
        }
        return VerificationEffect(purpose: verification.purpose, userID: verification.accountID)
    }

    /// Replaces the e-mail of the account, ends its other sign-ins and a recovery by the former e-mail, and notifies the devices by a push
    /// and the former address by a mail. An owner without a device learns of a takeover only from that mail.
    ///
    /// The first e-mail of an account removes its face: it could not open the account before, and a stranger with a stolen token may have
    /// planted it. The response says whether the account has a face; if not, the app enrols one.
    ///
    /// Call it with ``SignInRepository/lock(of:)``, which enrolments and recoveries take as well.
    ///
    /// The sign-in that asked for the change must not have ended: an owner who gets a mail about a thief's change ends all sign-ins.
    private func changeEmail() async throws -> VerificationEffect {
        if verification.verifiedAt == nil {
            let signIns = SignInRepository(transaction)
            guard try await signIns.hold(verification.signInID, of: verification.accountID, since: verification.createdAt) else {
                throw APIError.invalidCode
            }
            let former = try await UserRepository(transaction).find(id: verification.accountID)?.email
            let replaced = former.flatMap { Set($0.lookups).isDisjoint(with: verification.email.lookups) ? $0 : nil }
            _ = try await EmailVerificationRepository(transaction).verify(id: verification.id, replacing: replaced)
            do {
                guard try await UserRepository(transaction).setEmail(verification.email, of: verification.accountID) else {
                    throw APIError.invalidCode
                }
            } catch let error as PostgresError where error.code == .sqlState("23505") {
                throw APIError.alreadyEnrolled
            }
            // An erasure finds photos of sign-ins by the e-mail that the account has then.
            for lookup in former?.lookups ?? [] {
                try await FacePhotoHashRepository(transaction).deleteAll(of: AttemptKey.derive(from: lookup))
            }
            try await record(.emailChanged)
            if former == nil { try await removeFace() }
            if let recovery = try await PendingEnrolmentRepository(transaction).cancelRecovery(of: verification.accountID) {
                try await record(.recoveryCancelled, of: recovery, detail: "email_changed")
            }
            _ = try await signIns.endAll(of: verification.accountID, except: verification.signInID, isNoticed: true)
            let alert = AccountAlertPush(.emailChanged, of: verification.accountID).request(cause: verification.id)
            try await OutboxRepository(transaction).publish(
                alert, requestID: requestID, traceparent: traceparent, expiresAt: alert.expiresAt)
            if replaced != nil {
                try await OutboxRepository(transaction).publish(
                    MailRequested(kind: .emailChanged, subjectID: verification.id), requestID: requestID, traceparent: traceparent)
            }
        }
        let hasFace = try await FaceTemplateRepository(transaction).exists(userID: verification.accountID)
        return VerificationEffect(purpose: verification.purpose, userID: verification.accountID, faceEnrolled: hasFace)
    }

    private func removeFace() async throws {
        guard try await FaceTemplateRepository(transaction).delete(userID: verification.accountID) else { return }
        try await FacePhotoHashRepository(transaction).deleteAll(of: verification.accountID)
        try await record(.faceErased, detail: "first_email")
    }

    private func record(_ action: AuditAction, of object: UUID? = nil, detail: String? = nil) async throws {
        let actor: AuditActor = verification.purpose == .emailChange ? .user(verification.accountID) : .anonymous
        try await AuditRepository(transaction).append(
            AuditEntry(
                action, by: actor, on: verification.accountID, object: object ?? verification.id, requestID: requestID, detail: detail,
                addressKey: addressKey))
    }
}

/// The effect of an entered code, as the client gets it.
struct VerificationEffect: APIObject {
    static let members: [APIMember<VerificationEffect>] = [
        .required("purpose", \.purpose, purposes), .optional("enrolment_token", \.enrolmentToken),
        .optional("token_type", \.tokenType, .constant("Bearer")), .optional("expires_in", \.expiresIn), .optional("user_id", \.userID),
        .optional("face_enrolled", \.faceEnrolled),
    ]

    /// The code of a sign-in gives tokens in place of this answer.
    private static let purposes = JSONSchema.one(of: EmailVerification.Purpose.allCases.filter { $0 != .signIn }.map(\.rawValue))

    let purpose: EmailVerification.Purpose
    /// The bearer of a sign-up, for a registration.
    var enrolmentToken: String?
    /// Seconds for which the bearer is valid.
    var expiresIn: Int?
    /// The account, which an enrolment and a change have.
    var userID: UUID?
    /// Whether the account has a face, for a change.
    var faceEnrolled: Bool?

    private var tokenType: String? { enrolmentToken == nil ? nil : "Bearer" }
}

extension EmailVerification.Purpose: APIWord {}

extension APIError {
    /// A code that no attempt is left for, or that can have no effect any more.
    static let invalidCode = invalidCode(attemptsLeft: 0)

    static func invalidCode(attemptsLeft: Int) -> APIError {
        invalidCode(
            attemptsLeft: attemptsLeft,
            attemptsLeft > 0
                ? "The code is wrong; enter the one of the newest mail" : "The code is wrong or has expired; request another one",
            field: EnteredCode.field)
    }

    /// The error for what was entered wrongly in a field: it has taken an attempt.
    static func invalidCode(attemptsLeft: Int, _ message: String, field: String) -> APIError {
        var error = APIError(.invalidCode, message, field: field)
        error.attemptsLeft = attemptsLeft
        return error
    }

    static let alreadyEnrolled = APIError(
        .alreadyEnrolled, "This e-mail address has an account: sign in, or recover the account")
    static let faceInUse = APIError(.faceInUse, "This face has an account, with another e-mail address: sign in to it")
}
