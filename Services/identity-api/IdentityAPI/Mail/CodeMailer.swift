internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import Metrics
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import WireFormat

/// Publishes mails with codes. A mail is published with the request for the code if the address has waited long enough since the last one;
/// otherwise when its time and its turn have come.
struct CodeMailer: DueRowPublisher {
    static let name = "mails with codes"
    static let batchSize = 100

    let postgres: PostgresClient
    /// The mails with codes in a minute, over all addresses and instances; 0 is no limit.
    let perMinute: Int
    var interval: Duration = .seconds(1)
    let logger: Logger

    /// Refuses a request for a mail while many of its site wait for their turn.
    ///
    /// - Throws: `rate_limited`.
    func checkBacklog(of siteKey: [UInt8]?, in db: some PostgresQueryable) async throws {
        guard try await CodeMailRepository(db).isBacklogged(siteKey) else { return }
        throw APIError.rateLimited("Mails that were asked for from this address wait for their turn", wait: CodeMailRules.totalWindow)
    }

    /// Publishes the mail that a request has just got a place in, if it may be sent now. Call in the transaction of the request.
    func publish(_ mail: CodeMail, in transaction: PostgresTransaction) async throws {
        guard try await CodeMailRepository(transaction).admits(mail, perMinute: perMinute) else { return }
        try await publish(mail.id, "at_once", in: transaction)
    }

    func publishDue(limit: Int, in transaction: PostgresTransaction) async throws -> Int {
        let due = try await CodeMailRepository(transaction).takeDue(perMinute: perMinute, limit: limit)
        if due.isHeldBack { CodeBrake.count("mails") }
        for id in due.ids { try await publish(id, "waited", in: transaction) }
        return due.ids.count
    }

    private func publish(_ id: UUID, _ turn: String, in transaction: PostgresTransaction) async throws {
        guard let mail = try await CodeMailRepository(transaction).publish(id) else { return }
        try await OutboxRepository(transaction).publish(
            MailRequested(kind: .verificationCode, subjectID: id), requestID: mail.requestID, traceparent: mail.traceparent,
            expiresAt: Date(timeIntervalSinceNow: EmailVerificationRepository.codeLifetime / .seconds(1)))
        Counter(label: "code_mails_total", dimensions: [("turn", turn)]).increment()
        try await publishConfirmation(of: mail, in: transaction)
    }

    /// Asks the devices of an account to confirm the sign-in whose first code is in a mail: see
    /// ``EmailVerificationRepository/signInToConfirm(in:)``.
    private func publishConfirmation(of mail: PublishedCodeMail, in transaction: PostgresTransaction) async throws {
        guard let signIn = try await EmailVerificationRepository(transaction).signInToConfirm(in: mail.id),
            let expiresAt = signIn.codeExpiresAt
        else { return }
        let push = SignInConfirmationPush(sessionID: signIn.id, userID: signIn.accountID).request(expiresAt: expiresAt)
        try await OutboxRepository(transaction).publish(
            push, requestID: mail.requestID, traceparent: mail.traceparent, expiresAt: push.expiresAt)
        SignInConfirmationController.count(.asked)
    }
}
