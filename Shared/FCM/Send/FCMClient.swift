public import FoundationEssentials
public import HTTPClient
public import Logging
public import Push
public import ServiceLifecycle
internal import Synchronization

/// The settings of an ``FCMClient``.
public struct FCMConfiguration: Sendable {
    /// The URL of FCM, without a path; it must be https, or on this machine.
    public var baseURL = "https://fcm.googleapis.com"
    /// The settings of the HTTP/2 client. Its request timeout is 15 seconds; Google asks for at least 10.
    public var transport = HTTP2ClientConfiguration()
    /// The time after its start within which a send may be retried: with the time for a new access token and the response, it ends
    /// within a minute.
    public var retryWindow: Duration = .seconds(30)

    /// The configuration for the real FCM.
    public init() {}
}

/// Sends messages to FCM and reports the outcome of each. It is usable from its creation until it is shut down.
public final class FCMClient: Service {
    /// A request without its body, and the access token in its header.
    private struct PreparedRequest {
        let token: String
        let request: HTTP2Request
    }

    let tokens: any AccessTokenSource
    let retryWindow: Duration
    private let path: String
    private let transport: HTTP2Client
    private let now: @Sendable () -> Date
    private let iterationEnded: @Sendable () -> Void
    private let prepared = Mutex<PreparedRequest?>(nil)

    /// Makes a client for a project.
    ///
    /// - Parameter iterationEnded: Called after each iteration of the transport's loop in which calls ended, and after each send that
    ///   waited for a token; it must not block.
    /// - Throws: `configuration` when the base URL may not be used.
    public init(
        configuration: FCMConfiguration = .init(), projectID: String, tokens: any AccessTokenSource, logger: Logger,
        iterationEnded: @escaping @Sendable () -> Void = {}, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(FCMError) {
        let origin: String
        (origin, path) = try FCMEndpoints.send(baseURL: configuration.baseURL, projectID: projectID)
        transport = HTTP2Client(origin: origin, configuration: configuration.transport, logger: logger, iterationEnded: iterationEnded)
        self.tokens = tokens
        retryWindow = configuration.retryWindow
        self.iterationEnded = iterationEnded
        self.now = now
    }

    /// Waits for a graceful shutdown or for cancellation, then shuts the client down.
    public func run() async throws { try await transport.run() }

    /// Refuses new sends, gives those in flight the transport's grace, and returns when all have ended.
    public func shutdown() async { await transport.shutdown() }

    /// Returns the number of connections to FCM opened since the last call of this method.
    public func takeConnectionsOpened() -> Int { transport.takeConnectionsOpened() }

    /// Prepares a send of a message to one device.
    ///
    /// - Parameters:
    ///   - badge: The number on the app's icon; nil leaves it unchanged.
    ///   - isResend: Whether the device may have the message already; a resend replaces it without a sound.
    ///   - isUrgent: Whether it goes by the connection that only urgent sends use.
    ///   - validateOnly: Whether FCM checks the message without delivering it.
    public func prepare(
        _ message: FCMMessage, to target: PushTarget, badge: Int? = nil, isResend: Bool = false, isUrgent: Bool = false,
        validateOnly: Bool = false
    ) -> FCMSend {
        let body = message.request(to: target, badge: badge, isResend: isResend, at: now(), validateOnly: validateOnly)
        return FCMSend(self, body: body, isUrgent: isUrgent)
    }

    /// Sends a message to one device, as ``prepare(_:to:badge:isResend:isUrgent:validateOnly:)`` and ``FCMSend/start(_:)`` do, and
    /// returns the result.
    public func send(
        _ message: FCMMessage, to target: PushTarget, badge: Int? = nil, validateOnly: Bool = false
    ) async -> FCMResult {
        let send = prepare(message, to: target, badge: badge, validateOnly: validateOnly)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in send.start { continuation.resume(returning: $0) } }
        } onCancel: {
            send.cancel()
        }
    }

    /// Posts the body of a send. `completion` receives the result on the transport's thread, or at once on the caller's when the
    /// transport refuses the call.
    ///
    /// - Returns: The id for ``cancel(_:)``, 0 when the transport refused the call; later calls have greater ids.
    func post(_ body: [UInt8], isUrgent: Bool, token: String, completion: @escaping FCMSend.Completion) -> UInt64 {
        do throws(HTTPClientError) {
            return transport.start(try request(token: token), body: body, isUrgent: isUrgent) { [now] result in
                switch result {
                case .success(let response): completion(FCMClassifier.classify(response, now: now()))
                case .failure(let error): completion(FCMClassifier.classify(error))
                }
            }
        } catch {
            completion(FCMClassifier.classify(error))
            return 0
        }
    }

    func cancel(_ call: UInt64) {
        if call > 0 { transport.cancel(call) }
    }

    /// Runs the part of a send that waits for a token, in a task of its own.
    func runAsync(_ body: @escaping @Sendable () async -> Void) {
        Task {
            await body()
            iterationEnded()
        }
    }

    /// Returns the request with the header of a token; it is rebuilt only when the token has changed.
    private func request(token: String) throws(HTTPClientError) -> HTTP2Request {
        if let prepared = prepared.withLock({ $0 }), prepared.token == token { return prepared.request }
        let request = try HTTP2Request(
            path: path, headers: [("authorization", "Bearer \(token)"), ("content-type", "application/json; charset=UTF-8")])
        prepared.withLock { $0 = PreparedRequest(token: token, request: request) }
        return request
    }
}
