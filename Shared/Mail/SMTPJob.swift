internal import AsyncPrimitives
internal import Synchronization

/// A mail on its way: made by a task, sent by a thread.
final class SMTPJob: Sendable {
    /// The address for the command `RCPT`.
    let recipient: String
    /// The rendered mail.
    let body: [UInt8]
    /// The time at which it is given up.
    let deadline: ContinuousClock.Instant
    private let outcome = OneShot<Result<Void, MailError>>()
    private let abandonment = Atomic(false)

    init(recipient: String, body: [UInt8], deadline: ContinuousClock.Instant) {
        self.recipient = recipient
        self.body = body
        self.deadline = deadline
    }

    /// Whether its task waits for it no more: it is not to be sent, or not to its end.
    var isAbandoned: Bool { abandonment.load(ordering: .acquiring) }

    /// Ends it for its task at once; a thread that sends it notices within a second.
    func abandon(_ reason: String) {
        abandonment.store(true, ordering: .releasing)
        end(.failure(MailError(.unavailable, reason)))
    }

    /// Sets the outcome, unless it has one.
    func end(_ result: Result<Void, MailError>) { outcome.complete(result) }

    /// Waits for the outcome; may be called once.
    func result() async -> Result<Void, MailError> { await outcome.wait() }
}
