internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import Hummingbird
internal import Logging
internal import Mail
internal import PostgresClient
internal import WireFormat

/// Answers `POST /v1/auth/register`, `POST /v1/auth/verify` and `POST /v1/auth/resend`: proofs of e-mail addresses by mailed codes.
///
/// Before its code is entered, no response shows whether an address has an account. A code counts only for the verification that it was
/// mailed for. Only the client that asked for the verification has its id, so an owner who gets a stranger's code by mail cannot enter it
/// by mistake. The mail has the codes of all requests that are open, each beside the reference that the app of the request shows.
struct VerificationController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys
    /// Limits the mails that one client address, and each block around it, asks for.
    let limiter: PrefixRateLimiter
    /// Limits the codes that they enter, over all verifications.
    let codes: PrefixRateLimiter
    /// Limits wrong codes over all clients.
    let brake: CodeBrake
    let mailer: CodeMailer
    let mail: any MailSender

    func register(_ call: APICall<Void, Void, RegistrationBody>) async throws -> BegunVerification {
        let context = call.context
        let email = try EmailAddress(ofClient: call.body.email, for: mail)
        let accountID = UUID()
        var new = NewEmailVerification(
            purpose: .registration, accountID: accountID, email: try keys.sealed(email, of: accountID),
            origin: keys.origin(context.client), requestID: context.requestID, traceparent: context.traceparent)
        new.displayNameSealed = try call.body.name.map { try keys.sealed($0, of: new.accountID) }
        let times = try await postgres.withTransaction { try await begin(new, in: $0) }
        return BegunVerification(id: new.id, times: times)
    }

    /// Inserts a verification, and publishes its mail if that may be sent now.
    ///
    /// - Returns: The times to answer.
    func begin(_ new: NewEmailVerification, in transaction: PostgresTransaction) async throws -> CodeTimes {
        let verifications = EmailVerificationRepository(transaction)
        if new.purpose != .emailChange { try await verifications.deleteSurplus(before: new) }
        try await mailer.publish(try await verifications.insert(new), in: transaction)
        guard let times = try await verifications.times(id: new.id) else { throw APIError.internal }
        return times
    }

    /// Asks for a new code in the next mail, at most once a minute; that mail makes earlier codes void.
    func resend(_ call: APICall<Void, Void, ResendBody>) async throws -> BegunVerification {
        let (id, context) = (call.body.id, call.context)
        let times = try await postgres.withTransaction { transaction in
            let verifications = EmailVerificationRepository(transaction)
            let mail = try await verifications.askAgain(id: id, requestID: context.requestID, traceparent: context.traceparent)
            if let mail { try await mailer.publish(mail, in: transaction) }
            guard let times = try await verifications.times(id: id) else { throw APIError.verificationOver }
            guard mail != nil || times.waits || !times.isLastCode else { throw APIError.noMoreCodes }
            return times
        }
        return BegunVerification(id: id, times: times)
    }

    /// Enters a code. It takes the effect that the verification is for; a repetition gets the same answer.
    func verify(_ call: APICall<Void, Void, VerifyBody>) async throws -> VerificationEffect {
        let (id, context) = (call.body.id, call.context)
        let origin = keys.origin(context.client)
        let (entry, effect) = try await recordingRefusal(of: id, context) { transaction -> (CodeEntry, VerificationEffect?) in
            let entry = try await enter(call.body.code, of: id, from: origin, in: transaction) { try await lock(id, in: transaction) }
            guard case .right(let verification) = entry else { return (entry, nil) }
            let verified = VerifiedEmail(
                verification: verification, keys: keys, transaction: transaction, addressKey: keys.addressKey(context.client),
                requestID: context.requestID, traceparent: context.traceparent)
            return (entry, try await verified.takeEffect())
        }
        guard let effect else { throw entry.refusal }
        context.logger.info("e-mail address verified", metadata: ["verification_id": "\(id.wireString)"])
        return effect
    }

    /// Compares an entered code with the mailed one. Commit the transaction in any case: the attempt has to count.
    ///
    /// - Parameter lock: Takes the locks of what the code is for; they come before those of rows.
    /// - Throws: `rate_limited` while too many wrong codes are entered.
    func enter(
        _ code: EnteredCode, of id: UUID, from origin: RequestOrigin, in transaction: PostgresTransaction, lock: () async throws -> Void
    ) async throws -> CodeEntry {
        try await brake.check(origin.siteKey ?? [], entering: id, in: transaction)
        try await lock()
        guard let verification = try await EmailVerificationRepository(transaction).takeAttempt(id: id) else {
            return .wrong(attemptsLeft: 0)
        }
        let matches = keys.codes(of: verification).map { constantTimeEqual(Array($0.utf8), Array(code.digits.utf8)) }
        guard matches.contains(true) else {
            if let site = origin.siteKey { try await WrongCodeRepository(transaction).add(from: site) }
            return .wrong(attemptsLeft: verification.attemptsLeft)
        }
        return .right(verification)
    }

    /// Counts an entered code, before it is read.
    func checkCodes(_ context: APIRequestContext) throws(APIError) {
        try codes.admit(context.client, context.limits, or: "Too many codes were entered from this address")
    }

    /// Takes the locks that the effect of a verification needs: a change of an e-mail ends sign-ins, and a sign-up enrols a face. They are
    /// taken before row locks.
    private func lock(_ id: UUID, in transaction: PostgresTransaction) async throws {
        guard let verification = try await EmailVerificationRepository(transaction).find(id: id) else { return }
        switch verification.purpose {
        case .registration: break
        case .enrolment: try await PendingEnrolmentRepository(transaction).lock(id: id)
        case .emailChange: try await SignInRepository(transaction).lock(of: verification.accountID)
        case .signIn: throw APIError.codeOfSignIn
        }
    }

    /// Runs a transaction, and records that the face of a sign-up is another account's, which rolls it back.
    private func recordingRefusal(
        of id: UUID, _ context: APIRequestContext, _ body: (PostgresTransaction) async throws -> (CodeEntry, VerificationEffect?)
    ) async throws -> (CodeEntry, VerificationEffect?) {
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

    /// Counts a request for a mail, and refuses it while many of its site wait.
    func checkRate(_ context: APIRequestContext) async throws {
        try await checkRate(context, in: postgres)
    }

    /// The same inside a transaction.
    func checkRate(_ context: APIRequestContext, in db: some PostgresQueryable) async throws {
        try limiter.admit(context.client, context.limits, or: "Too many mails were asked for from this address")
        try await mailer.checkBacklog(of: keys.origin(context.client).siteKey, in: db)
    }
}

/// The result of an entered code.
enum CodeEntry: Sendable {
    /// The mailed code.
    case right(EmailVerification)
    /// Another code, or a code that is void.
    case wrong(attemptsLeft: Int)

    /// The error for a code that is not right, or that can have no effect.
    var refusal: APIError { if case .wrong(let attemptsLeft) = self { .invalidCode(attemptsLeft: attemptsLeft) } else { .invalidCode } }
}

extension APIError {
    /// Discloses nothing about an address: only the client that asked for a verification has its id.
    fileprivate static let verificationOver = APIError(
        .notFound, "This verification is unknown, a day old, denied, or proven already: ask for another one", field: "verification_id")
    fileprivate static let codeOfSignIn = APIError(
        .invalidRequest, "The code of a sign-in is entered where its tokens are asked for", field: "verification_id")
    fileprivate static let noMoreCodes = APIError(
        .limitReached,
        "This verification has had its \(EmailVerificationRepository.maxCodes) codes: enter the newest, or ask for another verification",
        field: "verification_id")
}

extension EmailAddress {
    /// Reads an address that a client names.
    ///
    /// - Parameter mail: The mailer of a code to it; nil when nothing is mailed.
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
