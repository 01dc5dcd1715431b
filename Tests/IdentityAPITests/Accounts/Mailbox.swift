import Foundation
import Mail
import Synchronization
import TestSupport

/// Takes the mails of a test in place of a mail server.
final class Mailbox: MailSender {
    private struct State {
        var mails: [MailMessage] = []
        var failures: [MailError] = []
    }

    private let state = Mutex(State())
    /// Whether the mail server would take such addresses.
    let takesInternationalAddresses: Bool?

    init(takesInternationalAddresses: Bool? = nil) { self.takesInternationalAddresses = takesInternationalAddresses }

    func send(_ message: MailMessage) async throws(MailError) {
        let failure = state.withLock { state -> MailError? in
            guard state.failures.isEmpty else { return state.failures.removeFirst() }
            state.mails.append(message)
            return nil
        }
        if let failure { throw failure }
    }

    /// Refuses the next mails with these errors.
    func fail(_ errors: MailError...) { state.withLock { $0.failures += errors } }

    /// The mails to an address so far.
    func mails(to address: String) -> [MailMessage] { state.withLock { $0.mails.filter { $0.to == address } } }

    /// Waits until an address has `count` mails, and returns the last.
    func mail(to address: String, count: Int = 1) async throws -> MailMessage {
        try await eventually("mail \(count) arrives") {
            let mails = mails(to: address)
            return mails.count >= count ? mails.last : nil
        }
    }

    /// Waits for a mail with a code, and returns the code: of several the one beside a reference.
    func code(to address: String, for reference: String? = nil, count: Int = 1) async throws -> String {
        let text = try await mail(to: address, count: count).text
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(reference ?? "-") ") } ?? text[...]
        guard let match = try Regex("[0-9]{6}").firstMatch(in: line) else {
            throw DeadlineExceeded(description: "the mail has no code")
        }
        return String(line[match.range])
    }
}
