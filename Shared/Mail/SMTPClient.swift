internal import FoundationEssentials
internal import HTTPClient
public import Logging
internal import Metrics
public import ServiceLifecycle
internal import Synchronization

/// Sends mails through one mail server (RFC 5321), by libcurl.
///
/// Each connection has a thread, which libcurl blocks; callers only suspend. Both begin with the first mail that needs them, and are kept
/// for the next ones. A mail that the server may know is never repeated here: after ``MailError/Code/unavailable`` the caller decides.
public final class SMTPClient: MailSender, Service {
    private let configuration: SMTPConfiguration
    private let logger: Logger
    private let queue: SMTPQueue

    /// Makes a client; it connects with the first mail.
    public init(_ configuration: SMTPConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        queue = SMTPQueue(maxThreads: configuration.maxConnections, maxJobs: configuration.maxQueuedMails)
    }

    /// Gives up the mails in progress, and ends the threads.
    deinit { queue.close(grace: .zero) }

    /// Returns once the server has taken the responsibility for a mail.
    ///
    /// A cancellation ends the call at once; a mail that was on its way then may be delivered or not.
    public func send(_ message: MailMessage) async throws(MailError) {
        let start = ContinuousClock.now
        let result = await result(of: message, deadline: start + configuration.timeout)
        if !Task.isCancelled { record(result, since: start, id: message.id) }
        try result.get()
    }

    /// Whether the server takes addresses beyond ASCII before the `@` (SMTPUTF8, RFC 6531), as it said at the last connection; nil before
    /// the first one.
    public var takesInternationalAddresses: Bool? { queue.international.withLock { $0 } }

    /// Waits for a graceful shutdown or for cancellation, then closes the client.
    public func run() async throws {
        try? await gracefulShutdown()
        await close()
    }

    /// Refuses new and waiting mails, gives mails in progress the configured grace, and returns when no mail is left.
    public func close() async {
        queue.close(grace: configuration.shutdownGrace)
        await queue.waitUntilEnded()
    }

    private func result(of message: MailMessage, deadline: ContinuousClock.Instant) async -> Result<Void, MailError> {
        let job: SMTPJob
        do throws(MailError) {
            let body = try MailRenderer.render(message, from: configuration.from, date: Date())
            job = SMTPJob(recipient: MailAddress.path(of: message.to), body: body, deadline: deadline)
        } catch {
            return .failure(error)
        }
        return await withTaskCancellationHandler {
            if !job.isAbandoned { queue.add(job, startThread: startThread) }
            return await job.result()
        } onCancel: {
            job.abandon("the task was cancelled")
        }
    }

    private func startThread() -> Bool {
        CurlThread.start { [queue, configuration] in
            Self.serve(queue, configuration)
        }
    }

    /// Sends the mails of the queue over one connection until the queue is closed.
    private static func serve(_ queue: SMTPQueue, _ configuration: SMTPConfiguration) {
        let handle = SMTPHandle(configuration)
        while let job = queue.next() {
            if !job.isAbandoned { job.end(outcome(of: job, queue, handle)) }
        }
        // Before the connection is closed: a server may take its time for that, and there is no mail left to wait for.
        queue.threadEnded()
    }

    private static func outcome(of job: SMTPJob, _ queue: SMTPQueue, _ handle: borrowing SMTPHandle?) -> Result<Void, MailError> {
        guard job.deadline > .now else { return .failure(MailError(.unavailable, "no connection became free in time")) }
        // libcurl's own time limit does not include the QUIT after a refusal: libcurl would wait two minutes for its reply.
        let isOver = { job.isAbandoned || queue.isOver || job.deadline <= .now }
        guard var evidence = handle?.send(job, isAbandoned: isOver) else {
            return .failure(MailError(.unavailable, "libcurl is out of memory"))
        }
        if evidence.isStale, let second = handle?.send(job, isAbandoned: isOver) { evidence = second }
        if let answer = evidence.takesInternationalAddresses { queue.international.withLock { $0 = answer } }
        return evidence.error.map { .failure($0) } ?? .success(())
    }

    private func record(_ result: Result<Void, MailError>, since start: ContinuousClock.Instant, id: String) {
        let duration = ContinuousClock.now - start
        var outcome = "sent"
        if case .failure(let error) = result {
            outcome = error.code.rawValue
            logger.debug("mail not sent", metadata: ["mail": "\(id)", "error": "\(error)"])
        }
        Counter(label: "mails_sent_total", dimensions: [("outcome", outcome)]).increment()
        Timer(label: "mail_send_seconds").recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
