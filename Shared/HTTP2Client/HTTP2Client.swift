public import HTTPClient
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// Sends small requests to one server over HTTP/2, as many a second as can be at as little work for each as can be.
///
/// libcurl makes the connections, nghttp2 speaks on them, and one thread of the client's own drives both. Requests share the
/// connections; another is opened only when all are full. The client is usable at once. It never follows a redirect
/// and never repeats a request.
public final class HTTP2Client: Service {
    /// What is told to a call: the answer, whatever its status, or why there is none.
    public typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    private let mailbox: HTTP2Mailbox
    private let configuration: HTTP2ClientConfiguration

    /// Starts a client and its thread; connections are made when they are needed.
    ///
    /// - Parameters:
    ///   - origin: Scheme, host and port such as `https://fcm.googleapis.com`. Over `http` the server must speak
    ///     HTTP/2 without being asked. With an origin that is no such thing all calls fail as `invalidRequest`.
    ///   - turnEnded: Called on the client's thread after each turn in which calls ended, so that what they gathered can be
    ///     acted upon once. It must not block.
    public init(
        origin: String, configuration: HTTP2ClientConfiguration = .init(), logger: Logger,
        turnEnded: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        let mailbox = HTTP2Mailbox(requestsInFlightMax: configuration.requestsInFlightMax)
        self.mailbox = mailbox
        let isStarted = CurlThread.start {
            HTTP2Loop(
                origin: HTTP2Origin(origin), mailbox: mailbox, configuration: configuration, logger: logger,
                turnEnded: turnEnded
            ).run()
            mailbox.closed()
        }
        precondition(isStarted, "the system gives no thread for an HTTP client")
    }

    /// Fails whatever is still in flight and ends the thread.
    deinit { mailbox.close(grace: .zero) }

    /// Starts a call.
    ///
    /// - Parameter completion: Called exactly once, on the client's thread, or at once on the caller's when the call is
    ///   refused. It must not block. Of the header fields only answers other than 2xx have any.
    /// - Returns: The call's number for ``cancel(_:)``; 0 when it was refused.
    @discardableResult public func start(_ request: HTTP2Request, body: [UInt8], completion: @escaping Completion) -> UInt64 {
        mailbox.start(request, body: body, completion: completion)
    }

    /// Gives a call up: it ends as `cancelled`, unless it has ended already.
    public func cancel(_ id: UInt64) { mailbox.cancel(id) }

    /// Sends a request and returns its answer, whatever its status.
    ///
    /// - Throws: `cancelled` when the calling task is cancelled; otherwise see ``HTTPClientError/Code``.
    public func execute(_ request: HTTP2Request, body: [UInt8]) async throws(HTTPClientError) -> HTTPClientResponse {
        let ticket = Ticket()
        let result: Result<HTTPClientResponse, HTTPClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ticket.id.store(
                    start(request, body: body) { continuation.resume(returning: $0) }, ordering: .sequentiallyConsistent)
                // A task that was cancelled before the number was known has had its handler run too early.
                if Task.isCancelled { cancel(ticket) }
            }
        } onCancel: {
            cancel(ticket)
        }
        return try result.get()
    }

    /// The number of a call, where the handler of a cancellation finds it.
    private final class Ticket: Sendable {
        let id = Atomic<UInt64>(0)
    }

    private func cancel(_ ticket: Ticket) {
        let id = ticket.id.load(ordering: .sequentiallyConsistent)
        if id > 0 { mailbox.cancel(id) }
    }

    /// Returns how many connections were opened since this was last called.
    public func takeConnectionsOpened() -> Int { mailbox.connectionsOpened.exchange(0, ordering: .relaxed) }

    /// Waits for a graceful shutdown or for cancellation, then shuts the client down.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Takes no more requests, gives those in flight the configured grace, and returns when the thread is done.
    public func shutdown() async {
        mailbox.close(grace: configuration.shutdownGrace)
        await mailbox.waitUntilClosed()
    }
}
