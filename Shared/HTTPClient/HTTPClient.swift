public import Logging
public import ServiceLifecycle
internal import Synchronization

/// Sends HTTP requests over pooled connections, multiplexed by HTTP/2.
///
/// The client's thread drives libcurl; callers only suspend. The client is usable at once. It never follows a redirect, keeps
/// no cookies and never retries, with one exception that is libcurl's: a request is sent again when the reused connection it
/// went out on turns out to be dead before a byte of the response came.
public final class HTTPClient: Service {
    private let mailbox: CurlMailbox
    private let configuration: HTTPClientConfiguration
    private let lastID = Atomic<UInt64>(0)

    /// Starts a client and its thread.
    public init(configuration: HTTPClientConfiguration = .init(), logger: Logger) {
        self.configuration = configuration
        let mailbox = CurlMailbox(maxRequestsInFlight: configuration.maxRequestsInFlight)
        self.mailbox = mailbox
        let isStarted = CurlThread.start {
            CurlLoop(mailbox: mailbox, configuration: configuration, logger: logger).run()
            mailbox.markClosed()
        }
        precondition(isStarted, "cannot create a thread for an HTTP client")
    }

    /// Fails the calls in flight and ends the thread.
    deinit { mailbox.close(grace: .zero) }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Throws: `cancelled` when the calling task is cancelled, at once, and without sending anything when it was cancelled before
    ///   the call; otherwise see ``HTTPClientError/Code``.
    public func execute(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
        if let fault = request.fault { throw HTTPClientError(.invalidRequest, mayHaveReachedServer: false, fault) }
        if Task.isCancelled { throw .cancelledBeforehand }
        let id = lastID.add(1, ordering: .relaxed).newValue
        let result: Result<HTTPClientResponse, HTTPClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                mailbox.start(CurlMailbox.Call(id: id, request: request, continuation: continuation))
                // When the task was cancelled before the call was posted, its handler ran too early.
                if Task.isCancelled { mailbox.cancel(id) }
            }
        } onCancel: {
            mailbox.cancel(id)
        }
        return try result.get()
    }

    /// Waits for a graceful shutdown or for cancellation, then shuts the client down.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Refuses new requests, gives those in flight the configured grace, and returns when the thread has ended.
    public func shutdown() async {
        mailbox.close(grace: configuration.shutdownGrace)
        await mailbox.waitUntilClosed()
    }
}
