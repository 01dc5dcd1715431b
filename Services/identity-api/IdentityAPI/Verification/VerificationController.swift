internal import EventBus
internal import FoundationEssentials
internal import HeliographCrypto
internal import Hummingbird
internal import JSON
internal import Logging
internal import Mail
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `POST /v1/auth/register`, `POST /v1/auth/verify` and `POST /v1/auth/resend`: proofs of e-mail addresses by mailed codes.
///
/// Whether an address has an account shows in no answer before its code is entered. A code counts only for the verification that it was
/// mailed for, whose id only the one who asked has: an owner who is mailed a code that a stranger asked for cannot enter it by mistake.
struct VerificationController: Sendable {
    /// The maximum size of the JSON.
    static let maxBodyBytes = 4 * 1_024

    let postgres: PostgresClient
    let keys: AccountKeys
    /// Limits the mails that one client address asks for.
    let limiter: RateLimiter<IPAddress>
    /// Limits the codes that one client address enters, over all verifications.
    let codes: RateLimiter<IPAddress>
    let mail: any MailSender

    func register(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try checkRate(context)
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        let email = try body.email(for: mail)
        let name = try body.text(DisplayName.field).map { text throws(APIError) in try DisplayName(text) }
        let accountID = UUID()
        var new = NewEmailVerification(
            purpose: .registration, accountID: accountID, email: try keys.sealed(email, of: accountID),
            addressKey: keys.addressKey(context.client))
        new.displayNameSealed = try name.map { try keys.sealed($0, of: new.accountID) }
        try await postgres.withTransaction { _ = try await Self.begin(new, context, in: $0) }
        return Self.accepted(new.id, context)
    }

    /// Inserts a verification and requests its mail.
    ///
    /// - Returns: Whether the code is mailed.
    static func begin(
        _ new: NewEmailVerification, _ context: APIRequestContext, in transaction: PostgresTransaction
    ) async throws -> Bool {
        guard try await EmailVerificationRepository(transaction).insert(new) else { return false }
        try await mailCode(of: new.id, context, in: transaction)
        return true
    }

    /// Mails a new code for a verification, at most once a minute; the codes before it are void.
    func resend(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try checkRate(context)
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        let id = try body.verificationID()
        try await postgres.withTransaction { transaction in
            guard try await EmailVerificationRepository(transaction).renewCode(id: id) else { return }
            try await Self.mailCode(of: id, context, in: transaction)
        }
        return Self.accepted(id, context)
    }

    /// Enters a code. It takes the effect that the verification is for; a repetition gets the same answer.
    func verify(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try codes.admit(context.client.subscriber, context.limits, or: "Too many codes were entered from this address")
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        let (id, code) = (try body.verificationID(), try body.requiredText("code"))
        let data = try await recordingRefusal(of: id, context) { transaction -> JSONValue? in
            let verifications = EmailVerificationRepository(transaction)
            // A change ends sign-ins, whose lock is taken before rows.
            if let change = try await verifications.find(id: id), change.purpose == .emailChange {
                try await SignInRepository(transaction).lock(of: change.accountID)
            }
            guard let verification = try await verifications.takeAttempt(id: id) else { return nil }
            // Not thrown here: the attempt has to be committed.
            let matches = keys.codes(of: verification).map { constantTimeEqual(Array($0.utf8), Array(code.utf8)) }
            guard matches.contains(true) else { return nil }
            let verified = VerifiedEmail(
                verification: verification, keys: keys, transaction: transaction, addressKey: keys.addressKey(context.client),
                requestID: context.requestID, traceparent: context.traceparent)
            return try await verified.takeEffect()
        }
        guard let data else { throw APIError.invalidCode }
        context.logger.info("e-mail address verified", metadata: ["verification_id": "\(id.wireString)"])
        var response = Answer.json(Answer.data(data, context.requestID))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Runs a transaction, and records that the face of a sign-up is another account's, which rolls it back.
    private func recordingRefusal(
        of id: UUID, _ context: APIRequestContext, _ body: (PostgresTransaction) async throws -> JSONValue?
    ) async throws -> JSONValue? {
        do {
            return try await postgres.withTransaction(body)
        } catch let error as APIError where error.code == .faceInUse {
            let accountID = try await EmailVerificationRepository(postgres).find(id: id)?.accountID
            try await AuditRepository(postgres).append(
                AuditEntry(
                    .faceDuplicateFound, .refused, by: .system(IdentityAPI.name), on: accountID, object: id, requestID: context.requestID,
                    detail: "refuse", addressKey: keys.addressKey(context.client)))
            throw error
        }
    }

    /// Counts a request for a mail.
    func checkRate(_ context: APIRequestContext) throws(APIError) {
        try limiter.admit(context.client.subscriber, context.limits, or: "Too many mails were asked for from this address")
    }

    private static func mailCode(of id: UUID, _ context: APIRequestContext, in transaction: PostgresTransaction) async throws {
        try await OutboxRepository(transaction).publish(
            MailRequested(kind: .verificationCode, subjectID: id), requestID: context.requestID, traceparent: context.traceparent,
            expiresAt: Date(timeIntervalSinceNow: EmailVerificationRepository.codeLifetime / .seconds(1)))
    }

    /// The answer to a request for a code: the same for every address.
    static func accepted(_ id: UUID, _ context: APIRequestContext) -> Response {
        Answer.json(
            Answer.data(
                .members(
                    ("verification_id", .string(id.wireString)),
                    ("expires_in", .integer(Int(EmailVerificationRepository.codeLifetime / .seconds(1)))),
                    ("resend_after", .integer(Int(EmailVerificationRepository.codeInterval / .seconds(1))))),
                context.requestID), status: .accepted)
    }
}

extension EmailAddress {
    /// Reads an address that a client names.
    ///
    /// - Parameter mail: What mails a code to it; nil when nothing is mailed.
    /// - Throws: `invalid_email`, also for an address that the mail server cannot send to.
    init(ofClient text: String, for mail: (any MailSender)?) throws(APIError) {
        guard let email = EmailAddress(text) else {
            throw APIError(.invalidEmail, "This is not an e-mail address", field: UploadForm.email)
        }
        guard !email.needsInternationalMail || mail?.takesInternationalAddresses != false else {
            let message = "No mail can be sent to an address with such characters before the @: only to letters of ASCII"
            throw APIError(.invalidEmail, message, field: UploadForm.email)
        }
        self = email
    }
}

extension JSONBody {
    /// The address in the field `email`, to which a code is going to be mailed.
    func email(for mail: any MailSender) throws(APIError) -> EmailAddress {
        try EmailAddress(ofClient: try requiredText(UploadForm.email), for: mail)
    }

    /// The id in the field `verification_id`.
    fileprivate func verificationID() throws(APIError) -> UUID {
        let field = "verification_id"
        guard let id = UUID(wireString: try requiredText(field)) else {
            throw APIError(.invalidRequest, "A verification is named by a UUID", field: field)
        }
        return id
    }
}
