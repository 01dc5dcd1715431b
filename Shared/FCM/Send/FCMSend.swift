internal import HTTPClient
internal import Synchronization

/// One send of a message to one device.
///
/// A send whose access token is refused is retried once with a new token. A send that certainly did not reach FCM, for example
/// because the connection was being closed, is retried once. No retry starts later than ``FCMConfiguration/retryWindow`` after the
/// start of the send, so that its duration is bounded.
///
/// No task waits for the response, so that a hundred thousand sends cost no more than their requests.
public final class FCMSend: Sendable {
    /// Receives the result of a send, once; it must not block.
    public typealias Completion = @Sendable (FCMResult) -> Void

    /// The retries that a send has left.
    private enum RemainingRetries {
        /// One when it was not sent, and one with a new token.
        case all
        /// One with a new token.
        case token
        case none
    }

    private let client: FCMClient
    private let body: [UInt8]
    private let isUrgent: Bool
    /// The id of the last HTTP/2 call of this send; 0 before the first.
    private let lastCall = Atomic<UInt64>(0)
    private let isCancelled = Atomic(false)
    private let retryDeadline: ContinuousClock.Instant

    init(_ client: FCMClient, body: [UInt8], isUrgent: Bool) {
        retryDeadline = .now + client.retryWindow
        self.client = client
        self.body = body
        self.isUrgent = isUrgent
    }

    /// Starts the send; must be called only once.
    ///
    /// - Parameter completion: Receives the result, mostly on the thread of the client's transport.
    public func start(_ completion: @escaping Completion) {
        if let token = client.tokens.current { return post(token, .all, completion) }
        client.runAsync { [self, tokens = client.tokens] in
            do throws(FCMError) {
                post(try await tokens.accessToken(), .all, completion)
            } catch {
                completion(FCMResult(error))
            }
        }
    }

    /// Cancels the send: unless it has ended, it ends soon with the outcome `cancelled`. Nothing is sent after the cancellation.
    public func cancel() {
        isCancelled.store(true, ordering: .sequentiallyConsistent)
        client.cancel(lastCall.load(ordering: .sequentiallyConsistent))
    }

    private func post(_ token: String, _ remaining: RemainingRetries, _ completion: @escaping Completion) {
        if isCancelled.load(ordering: .sequentiallyConsistent) { return completion(FCMClassifier.classify(.cancelledBeforehand)) }
        let call = client.post(body, isUrgent: isUrgent, token: token) { [self] result in handle(result, token, remaining, completion) }
        // The completion may have run already and have started a later call.
        lastCall.max(call, ordering: .sequentiallyConsistent)
        // A concurrent `cancel()` either reads this call, or has set the flag before it is read here.
        if isCancelled.load(ordering: .sequentiallyConsistent) { client.cancel(call) }
    }

    private func handle(_ result: FCMResult, _ token: String, _ remaining: RemainingRetries, _ completion: @escaping Completion) {
        switch (result.outcome, ContinuousClock.now < retryDeadline ? remaining : .none) {
        case (.notSent, .all): post(token, .token, completion)
        case (.ourAuth, .all), (.ourAuth, .token):
            client.runAsync { [self, tokens = client.tokens] in
                guard let other = await tokens.accessToken(afterRefusalOf: token) else { return completion(result) }
                post(other, .none, completion)
            }
        default: completion(result)
        }
    }
}

extension FCMResult {
    /// Makes the result of a send that got no access token.
    fileprivate init(_ error: FCMError) {
        switch error.code {
        case .invalidMessage: self.init(.badPayload, code: "invalid_message")
        case .tokenUnavailable: self.init(.notSent, code: "token_unavailable")
        case .credentialsRefused, .configuration: self.init(.ourAuth, code: "credentials_refused")
        }
    }
}
