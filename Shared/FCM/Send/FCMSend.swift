internal import Synchronization

/// One send of a message to one device. A send whose access token is refused is made again with a new one, and so is, once,
/// one that certainly did not reach FCM, as when the connection had just been closed; neither later than
/// ``FCMConfiguration/secondTryWithin`` after its beginning, so that its end is known beforehand.
///
/// No task waits for its answer, so that a hundred thousand of them cost no more than their requests.
public final class FCMSend: Sendable {
    /// Told what became of a send, once; it must not block.
    public typealias Completion = @Sendable (FCMResult) -> Void

    /// What a send may still do when it fails.
    private enum Chances {
        /// Once more when it was not sent, and with another token.
        case all
        /// With another token.
        case token
        case none
    }

    private let client: FCMClient
    private let body: [UInt8]
    /// The last call that was made for it; 0 before the first.
    private let lastCall = Atomic<UInt64>(0)
    private let isCancelled = Atomic(false)
    private let lastBegin: ContinuousClock.Instant

    init(_ client: FCMClient, body: [UInt8]) {
        lastBegin = .now + client.secondTryWithin
        self.client = client
        self.body = body
    }

    /// Begins; to be called once.
    ///
    /// - Parameter completion: Told the outcome, mostly on the thread of the client's transport.
    public func start(_ completion: @escaping Completion) {
        if let token = client.tokens.current { return post(token, .all, completion) }
        client.detour { [self, tokens = client.tokens] in
            do throws(FCMError) {
                post(try await tokens.accessToken(), .all, completion)
            } catch {
                completion(FCMResult(error))
            }
        }
    }

    /// Ends it as soon as may be, if it has not ended; what became of it is `cancelled` then.
    public func cancel() {
        isCancelled.store(true, ordering: .sequentiallyConsistent)
        client.cancel(lastCall.load(ordering: .sequentiallyConsistent))
    }

    private func post(_ token: String, _ chances: Chances, _ completion: @escaping Completion) {
        let call = client.post(body, token: token) { [self] result in answered(result, token, chances, completion) }
        // The answer may have come already, and have led to another call.
        lastCall.max(call, ordering: .sequentiallyConsistent)
        // Whoever cancels reads the call after that, or has been seen here.
        if isCancelled.load(ordering: .sequentiallyConsistent) { client.cancel(call) }
    }

    private func answered(_ result: FCMResult, _ token: String, _ chances: Chances, _ completion: @escaping Completion) {
        switch (result.outcome, ContinuousClock.now < lastBegin ? chances : .none) {
        case (.notSent, .all): post(token, .token, completion)
        case (.ourAuth, .all), (.ourAuth, .token):
            client.detour { [self, tokens = client.tokens] in
                guard let other = await tokens.accessToken(afterRefusalOf: token) else { return completion(result) }
                post(other, .none, completion)
            }
        default: completion(result)
        }
    }
}

extension FCMResult {
    /// What a send without an access token comes to.
    fileprivate init(_ error: FCMError) {
        switch error.code {
        case .invalidMessage: self.init(.badPayload, code: "invalid_message")
        case .tokenUnavailable: self.init(.notSent, code: "token_unavailable")
        case .credentialsRefused, .configuration: self.init(.ourAuth, code: "credentials_refused")
        }
    }
}
