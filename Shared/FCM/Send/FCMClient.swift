public import FoundationEssentials
public import HTTP2Client
internal import HTTPClient
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// What a client is made with.
public struct FCMConfiguration: Sendable {
    /// Where FCM is, without a path; another address than Google's must be https, or on this machine.
    public var baseURL = "https://fcm.googleapis.com"
    /// How requests get there. One may take 15 seconds; Google asks for at least 10.
    public var transport = HTTP2ClientConfiguration()
    /// For how long after its beginning a send may be made again: with what a new access token and the answer may take, it has ended
    /// after a minute.
    public var secondTryWithin: Duration = .seconds(30)

    /// The configuration for the real FCM.
    public init() {}
}

/// Sends messages to FCM and says what became of each. It is usable at once, and until it is shut down.
public final class FCMClient: Service {
    /// A request that is ready but for its body, and the access token in its header.
    private struct Ready {
        let token: String
        let request: HTTP2Request
    }

    let tokens: any AccessTokenSource
    let secondTryWithin: Duration
    private let path: String
    private let transport: HTTP2Client
    private let now: @Sendable () -> Date
    private let turnEnded: @Sendable () -> Void
    private let ready = Mutex<Ready?>(nil)

    /// Makes a client for a project.
    ///
    /// - Parameter turnEnded: Called whenever one or more sends have ended, after all that ended at once; it must not block.
    /// - Throws: `configuration` when the base URL may not be used.
    public init(
        configuration: FCMConfiguration = .init(), projectID: String, tokens: any AccessTokenSource, logger: Logger,
        turnEnded: @escaping @Sendable () -> Void = {}, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(FCMError) {
        let origin: String
        (origin, path) = try FCMEndpoints.send(baseURL: configuration.baseURL, projectID: projectID)
        transport = HTTP2Client(origin: origin, configuration: configuration.transport, logger: logger, turnEnded: turnEnded)
        self.tokens = tokens
        secondTryWithin = configuration.secondTryWithin
        self.turnEnded = turnEnded
        self.now = now
    }

    /// Waits for a graceful shutdown or for cancellation, then shuts the client down.
    public func run() async throws { try await transport.run() }

    /// Sends nothing more, gives what is on its way the transport's grace, and returns when nothing is.
    public func shutdown() async { await transport.shutdown() }

    /// Returns how many connections to FCM were opened since this was last called.
    public func takeConnectionsOpened() -> Int { transport.takeConnectionsOpened() }

    /// Prepares to send a message once to one device.
    ///
    /// - Parameters:
    ///   - badge: The number on the app's icon; nil leaves it as it is.
    ///   - isResend: Whether the device may have the message already, which it then replaces without a sound.
    ///   - validateOnly: Has FCM check the message and not deliver it.
    public func prepare(
        _ message: FCMMessage, to target: FCMTarget, badge: Int? = nil, isResend: Bool = false, validateOnly: Bool = false
    ) -> FCMSend {
        FCMSend(
            self, body: message.request(to: target, badge: badge, isResend: isResend, at: now(), validateOnly: validateOnly))
    }

    /// Sends a message once to one device, as ``prepare(_:to:badge:isResend:validateOnly:)`` and ``FCMSend/start(_:)`` do, and waits for
    /// the outcome.
    public func send(
        _ message: FCMMessage, to target: FCMTarget, badge: Int? = nil, validateOnly: Bool = false
    ) async -> FCMResult {
        let send = prepare(message, to: target, badge: badge, validateOnly: validateOnly)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in send.start { continuation.resume(returning: $0) } }
        } onCancel: {
            send.cancel()
        }
    }

    /// Posts the body of a send; `completion` is told what became of it, on the transport's thread unless it takes nothing.
    ///
    /// - Returns: What ``cancel(_:)`` takes, 0 when nothing was posted; a later call has a greater number.
    func post(_ body: [UInt8], token: String, completion: @escaping FCMSend.Completion) -> UInt64 {
        do throws(HTTPClientError) {
            return transport.start(try request(token: token), body: body) { [now] result in
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

    /// Does the part of a send that has to wait for something.
    func detour(_ body: @escaping @Sendable () async -> Void) {
        Task {
            await body()
            turnEnded()
        }
    }

    /// The request with the header of a token; made anew only when the token is another.
    private func request(token: String) throws(HTTPClientError) -> HTTP2Request {
        if let ready = ready.withLock({ $0 }), ready.token == token { return ready.request }
        let request = try HTTP2Request(
            path: path, headers: [("authorization", "Bearer \(token)"), ("content-type", "application/json; charset=UTF-8")])
        ready.withLock { $0 = Ready(token: token, request: request) }
        return request
    }
}
