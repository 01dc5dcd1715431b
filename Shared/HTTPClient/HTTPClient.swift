public import Logging
public import ServiceLifecycle

/// Sends HTTP requests over pooled connections, multiplexed by HTTP/2.
///
/// The client's thread drives libcurl; callers only suspend. The client is usable at once. It never follows a redirect, keeps
/// no cookies and never retries, with one exception that is libcurl's: a request is sent again when the reused connection it
/// went out on turns out to be dead before a byte of the response came.
public final class HTTPClient: Service {
    private let mailbox: CurlMailbox
    private let configuration: HTTPClientConfiguration

    /// Starts a client and its thread.
    public init(configuration: HTTPClientConfiguration = .init(), logger: Logger) {
        self.configuration = configuration
        mailbox = CurlMailbox(maxRequestsInFlight: configuration.maxRequestsInFlight)
        mailbox.startThread { CurlLoop(mailbox: $0, configuration: configuration, logger: logger).run() }
    }

    /// Fails the calls in flight and ends the thread.
    deinit { mailbox.close(grace: .zero) }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Throws: `cancelled` when the calling task is cancelled, at once, and without sending anything when it was cancelled before
    ///   the call; otherwise see ``HTTPClientError/Code``.
    public func execute(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
        if let fault = request.fault { throw HTTPClientError(.invalidRequest, mayHaveReachedServer: false, fault) }
        return try await mailbox.execute(request)
    }

    /// Waits for a graceful shutdown or for cancellation, then shuts the client down.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Refuses new requests, gives those in flight the configured grace, and returns when the thread has ended.
    public func shutdown() async { await mailbox.shutdown(grace: configuration.shutdownGrace) }
}
