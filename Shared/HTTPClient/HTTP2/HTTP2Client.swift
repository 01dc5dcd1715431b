public import Logging
public import ServiceLifecycle
internal import Synchronization

/// Sends small requests to one server over HTTP/2, built for high rates at little work per request.
///
/// libcurl makes the connections, nghttp2 implements the protocol, and one thread of the client drives both. Requests share the
/// connections; another is opened only when all are full. Urgent calls have a connection of their own, so that they do not queue
/// behind the others' bytes. The client is usable at once. It never follows a redirect and never retries a request.
public final class HTTP2Client: Service {
    /// Receives the response of a call, whatever its status, or the error.
    public typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    private let mailbox: HTTP2Mailbox
    private let connectionsOpened = ConnectionCount()
    private let configuration: HTTP2ClientConfiguration

    /// Starts a client and its thread; connections are made when they are needed.
    ///
    /// - Parameters:
    ///   - origin: Scheme, host and port such as `https://fcm.googleapis.com`. Over `http` the server must speak HTTP/2
    ///     with prior knowledge. With an invalid origin all calls fail as `invalidRequest`.
    ///   - iterationEnded: Called on the client's thread after each iteration of its loop in which calls ended, so that the
    ///     results of these calls can be handled together. It must not block.
    public init(
        origin: String, configuration: HTTP2ClientConfiguration = .init(), logger: Logger,
        iterationEnded: @escaping @Sendable () -> Void = {}
    ) {
        self.configuration = configuration
        mailbox = HTTP2Mailbox(maxRequestsInFlight: configuration.maxRequestsInFlight)
        mailbox.startThread { [connectionsOpened] mailbox in
            HTTP2Loop(
                origin: HTTP2Origin(origin), mailbox: mailbox, configuration: configuration, logger: logger,
                connectionsOpened: connectionsOpened, iterationEnded: iterationEnded
            ).run()
        }
    }

    /// Fails the calls in flight and ends the thread.
    deinit { mailbox.close(grace: .zero) }

    /// Starts a call.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether it goes before calls that wait, and by the connection that only urgent calls use.
    ///   - completion: Called exactly once, on the client's thread, or at once on the caller's when the call is refused. It must not
    ///     block. A 2xx response has no header fields.
    /// - Returns: The call's id for ``cancel(_:)``; 0 when it was refused.
    @discardableResult public func start(
        _ request: HTTP2Request, body: [UInt8], isUrgent: Bool = false, completion: @escaping Completion
    ) -> UInt64 {
        mailbox.start((request, body, isUrgent), completion: completion)
    }

    /// Cancels a call: it ends as `cancelled`, unless it has ended already.
    public func cancel(_ id: UInt64) { mailbox.cancel(id) }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Throws: `cancelled` when the calling task is cancelled, without sending anything when it was cancelled before the call;
    ///   otherwise see ``HTTPClientError/Code``.
    public func execute(_ request: HTTP2Request, body: [UInt8]) async throws(HTTPClientError) -> HTTPClientResponse {
        try await mailbox.execute((request, body, isUrgent: false))
    }

    /// Returns the number of connections opened since the last call of this method.
    public func takeConnectionsOpened() -> Int { connectionsOpened.value.exchange(0, ordering: .relaxed) }

    /// Waits for a graceful shutdown or for cancellation, then shuts the client down.
    public func run() async throws {
        try? await gracefulShutdown()
        await shutdown()
    }

    /// Refuses new requests, gives those in flight the configured grace, and returns when the thread has ended.
    public func shutdown() async { await mailbox.shutdown(grace: configuration.shutdownGrace) }
}

/// The calls of ``HTTP2Client``: a prepared request with its body.
typealias HTTP2Mailbox = ClientMailbox<(request: HTTP2Request, body: [UInt8], isUrgent: Bool), CurlSocket>

/// The number of connections opened since it was last reset.
final class ConnectionCount: Sendable {
    let value = Atomic(0)
}
