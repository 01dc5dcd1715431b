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
        let times = try await postgres.withTransaction { try await Self.begin(new, context, in: $0).times }
        return Self.accepted(new.id, times, context)
    }

    /// Inserts a verification and requests its mail.
    ///
    /// - Returns: Whether the code is mailed, and the times to answer.
    static func begin(
        _ new: NewEmailVerification, _ context: APIRequestContext, in transaction: PostgresTransaction
    ) async throws -> (isMailed: Bool, times: CodeTimes) {
        let verifications = EmailVerificationRepository(transaction)
        let isMailed = try await verifications.insert(new)
        if isMailed { try await mailCode(of: new.id, context, in: transaction) }
        guard let times = try await verifications.times(id: new.id) else { throw APIError.internal }
        return (isMailed, times)
    }

    /// Mails a new code for a verification, at most once a minute; the codes before it are void. Answers when the next one can be mailed.
    func resend(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try checkRate(context)
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        let id = try body.verificationID()
        let times = try await postgres.withTransaction { transaction in
            let verifications = EmailVerificationRepository(transaction)
            let isMailed = try await verifications.renewCode(id: id)
            if isMailed { try await Self.mailCode(of: id, context, in: transaction) }
            guard let times = try await verifications.times(id: id) else { throw APIError.verificationOver }
            guard isMailed || !times.isLastCode else { throw APIError.noMoreCodes }
            return times
        }
        return Self.accepted(id, times, context)
    }

    /// Enters a code. It takes the effect that the verification is for; a repetition gets the same answer.
    func verify(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try codes.admit(context.client.subscriber, context.limits, or: "Too many codes were entered from this address")
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        let (id, code) = (try body.verificationID(), try EnteredCode(body).digits)
        let entry = try await recordingRefusal(of: id, context) { transaction in
            let verifications = EmailVerificationRepository(transaction)
            // A change ends sign-ins, whose lock is taken before rows.
            if let change = try await verifications.find(id: id), change.purpose == .emailChange {
                try await SignInRepository(transaction).lock(of: change.accountID)
            }
            guard let verification = try await verifications.takeAttempt(id: id) else { return .wrong(attemptsLeft: 0) }
            // Not thrown here: the attempt has to be committed.
            let matches = keys.codes(of: verification).map { constantTimeEqual(Array($0.utf8), Array(code.utf8)) }
            guard matches.contains(true) else { return .wrong(attemptsLeft: verification.attemptsLeft) }
            let verified = VerifiedEmail(
                verification: verification, keys: keys, transaction: transaction, addressKey: keys.addressKey(context.client),
                requestID: context.requestID, traceparent: context.traceparent)
            return .right(try await verified.takeEffect())
        }
        let data: JSONValue
        switch entry {
        case .right(let answer): data = answer
        case .wrong(let attemptsLeft): throw APIError.invalidCode(attemptsLeft: attemptsLeft)
        }
        context.logger.info("e-mail address verified", metadata: ["verification_id": "\(id.wireString)"])
        var response = Answer.json(Answer.data(data, context.requestID))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// What an entered code is.
    private enum Entry: Sendable {
        /// The one that was mailed, with the answer's data.
        case right(JSONValue)
        /// Another one, or one that cannot be entered any more.
        case wrong(attemptsLeft: Int)
    }

    /// Runs a transaction, and records that the face of a sign-up is another account's, which rolls it back.
    private func recordingRefusal(
        of id: UUID, _ context: APIRequestContext, _ body: (PostgresTransaction) async throws -> Entry
    ) async throws -> Entry {
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

    /// The answer to a request for a code: the same for every address, with and without an account.
    ///
    /// A wait of more than a minute is a limit of the day's mails, which other clients use up too: it is rounded up to hours, so that it
    /// does not tell when they asked.
    static func accepted(_ id: UUID, _ times: CodeTimes, _ context: APIRequestContext) -> Response {
        let unit = Duration.seconds(times.nextMail > EmailVerificationRepository.codeInterval ? 3_600 : 1)
        let wait = Int((times.nextMail / unit).rounded(.up)) * Int(unit / .seconds(1))
        return Answer.json(
            Answer.data(
                .members(
                    ("verification_id", .string(id.wireString)),
                    ("expires_in", .integer(Int(times.codeLeft / .seconds(1)))),
                    ("resend_after", .integer(wait))),
                context.requestID), status: .accepted)
    }
}

extension APIError {
    /// Says nothing about an address: only who asked for a verification has its id.
    fileprivate static let verificationOver = APIError(
        .notFound, "This verification is unknown, a day old, or proven already: ask for another one", field: "verification_id")
    fileprivate static let noMoreCodes = APIError(
        .limitReached,
        "This verification has had its \(EmailVerificationRepository.maxCodes) codes: enter the newest, or ask for another verification",
        field: "verification_id")
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
        guard let id = UUID(wireString: try requiredWord(field)) else {
            throw APIError(.invalidRequest, "A verification is named by a UUID", field: field)
        }
        return id
    }
}
