internal import Accounts
internal import EventBus
internal import FoundationEssentials
internal import Logging
internal import Mail
internal import PostgresClient
internal import WireFormat

/// Writes the e-mail that an event asks for, and sends it.
///
/// A mail is sent at least once: a process that dies after the mail server took it sends it again, with the same `Message-ID` and the same
/// code. If the subject of the event was deleted meanwhile, or its code has expired, nothing is sent.
struct MailRequestedHandler: EventHandler {
    /// The age from which a mail is not worth sending any more, in seconds: a day.
    private static let maxAge: TimeInterval = 24 * 60 * 60

    let postgres: PostgresClient
    let keys: AccountKeys
    let sender: any MailSender
    /// The time until a mail server that does not answer is tried again.
    let retryDelay: Duration

    func handle(_ event: Envelope<MailRequested>, _ context: HandlerContext) async throws {
        guard try await !context.isHandled(), let mail = try await mail(for: event) else { return }
        do throws(MailError) {
            try await sender.send(mail)
        } catch {
            context.logger.warning("a mail was not sent", metadata: ["kind": "\(event.body.kind.rawValue)", "error": "\(error)"])
            // A refused recipient shows nowhere but here: no answer may tell which addresses exist.
            guard error.code != .recipientRefused, event.occurredAt.timeIntervalSinceNow > -Self.maxAge else { return }
            throw HandlerDeferral(delay: retryDelay, reason: "no mail can be sent now")
        }
    }

    private func mail(for event: Envelope<MailRequested>) async throws -> MailMessage? {
        let subject = event.body.subjectID
        guard let (address, text) = try await content(of: event.body.kind, about: subject) else { return nil }
        return MailMessage(to: address, subject: text.subject, text: text.body, id: event.id.wireString)
    }

    /// Returns the recipient and the text; nil when the mail has no purpose any more.
    private func content(of kind: MailKind, about subject: UUID) async throws -> (address: String, MailText)? {
        switch kind {
        case .verificationCode:
            let requests = try await EmailVerificationRepository(postgres).requests(in: subject)
            guard let first = requests.first else { return nil }
            let hasAccount = try await UserRepository(postgres).find(emailLookups: first.email.lookups) != nil
            // An account that a sign-in was for may be erased meanwhile.
            let codes = requests.filter { hasAccount || $0.purpose != .signIn }
                .map { MailedCode(code: keys.codes(of: $0)[0], reference: $0.reference, purpose: $0.purpose) }
            guard !codes.isEmpty else { return nil }
            return (try keys.address(first.email.sealed, of: first.accountID), MailText(codes, hasAccount: hasAccount))
        case .recoveryStarted, .recoveryCompleted, .emailChangeRequested:
            guard let email = try await UserRepository(postgres).find(id: subject)?.email else { return nil }
            return (try keys.address(email.sealed, of: subject), MailText(about: kind))
        case .emailChanged:
            // Use the replaced e-mail, which the verification holds until it is deleted, not the account's present one.
            guard let change = try await EmailVerificationRepository(postgres).find(id: subject), let former = change.formerEmail else {
                return nil
            }
            return (try keys.address(former.sealed, of: change.accountID), MailText(about: kind))
        }
    }
}
