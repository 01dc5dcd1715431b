internal import Foundation

/// Sends the requests of the API: with the credential of the account, its renewal, repetitions, and one kind of error.
public final class APIClient: APISender {
    /// Which API, and for which app.
    public let configuration: ClientConfiguration
    /// The sign-in of the account on this device.
    public let credentials: AccountCredentials

    /// Exchanges refresh tokens: for the renewal of the sign-in in use, and for the logout of a sign-in that is not in use.
    let exchange: TokenExchange

    private let transport: any HTTPTransport
    private let time: TimeSource
    private let repetition: RequestRepetition
    private let budget = Locked(RepetitionBudget())
    private let builder: RequestBuilder
    private let installationID = Locked<String?>(nil)

    /// Creates a client. One for a process is enough, and shares the connections and the budget of repetitions.
    ///
    /// - Parameters:
    ///   - configuration: The API and the app.
    ///   - transport: Sends the requests.
    ///   - credentials: Where the tokens are kept; app and notification extension have the same.
    ///   - firebase: Gives the tokens of an app that signs in with Firebase; nil for the sign-in by face.
    ///   - time: The time of day and the waits.
    public convenience init(
        configuration: ClientConfiguration, transport: any HTTPTransport, credentials: any CredentialStore,
        firebase: FirebaseTokenProvider? = nil, time: TimeSource = .system
    ) {
        self.init(
            configuration: configuration, transport: transport, credentials: credentials, firebase: firebase, time: time,
            repetition: RequestRepetition())
    }

    init(
        configuration: ClientConfiguration, transport: any HTTPTransport, credentials: any CredentialStore,
        firebase: FirebaseTokenProvider? = nil, time: TimeSource, repetition: RequestRepetition
    ) {
        let builder = RequestBuilder(configuration: configuration)
        self.configuration = configuration
        self.transport = transport
        self.time = time
        self.repetition = repetition
        self.builder = builder
        let exchange = TokenExchange(builder: builder, transport: transport, time: time)
        self.exchange = exchange
        self.credentials = AccountCredentials(store: credentials, firebase: firebase, time: time) { refreshToken, timeout in
            await exchange.renew(refreshToken, timeout: timeout)
        }
    }

    /// Names this phone in requests of an app that signs in with Firebase, because Firebase's tokens do not name it: its Firebase
    /// installation id, or its FCM token. nil names no phone. A text that cannot be the value of a header is ignored, because every request
    /// with it would be refused.
    public func setInstallation(_ id: String?) {
        let id = id.flatMap { $0.isEmpty || !HeaderRules.isValue($0) ? nil : $0 }
        installationID.withLock { $0 = id }
    }

    func send<Answer>(_ request: APIRequest<Answer>) async throws(HeliographError) -> Answer {
        let transport = transport
        let response = try await perform(request) { sent throws(TransportError) in
            try await transport.send(sent, maxBytes: request.maxAnswerBytes)
        }
        do { return try request.decode(response) } catch {
            throw (error as? HeliographError)
                ?? HeliographError(
                    .unexpectedAnswer, "The answer cannot be read: \(type(of: error))", status: response.status,
                    requestID: response.headers["x-request-id"])
        }
    }

    func download(_ request: APIRequest<Void>, to file: URL, maxBytes: Int) async throws(HeliographError) {
        let transport = transport
        let response = try await perform(request) { sent throws(TransportError) in
            try await transport.download(sent, to: file, maxBytes: maxBytes)
        }
        guard response.status == 200 else {
            throw HeliographError(.unexpectedAnswer, "The answer has no file", status: response.status)
        }
    }

    func events(
        _ request: APIRequest<Void>, onEvent: @escaping @Sendable (_ name: String, _ data: String) async -> Bool
    ) async throws(HeliographError) {
        var request = request
        if request.headers["Accept"] == nil { request.headers["Accept"] = "text/event-stream" }
        let transport = transport
        let isTooLong = Locked(false)
        // Its caller can get the state without the stream, and must not wait for a repetition.
        _ = try await perform(request, mayRepeat: false) { sent throws(TransportError) in
            let parser = Locked(EventStreamParser())
            return try await transport.stream(sent) { line in
                do {
                    guard let event = try parser.withLock({ try $0.append(line) }) else { return true }
                    return await onEvent(event.name, event.data)
                } catch {
                    isTooLong.withLock { $0 = true }
                    return false
                }
            }
        }
        if isTooLong.withLock({ $0 }) { throw HeliographError(.unexpectedAnswer, "An event is longer than is allowed") }
    }

    /// Sends a request until it has an answer with a status of success, or an error that stays.
    private func perform<Answer>(
        _ request: APIRequest<Answer>, mayRepeat: Bool = true,
        exchange: (TransportRequest) async throws(TransportError) -> TransportResponse
    ) async throws(HeliographError) -> TransportResponse {
        // One id for all attempts: the operator finds them together.
        let requestID = (request.idempotencyKey ?? UUID()).wireText
        var credential = try await credential(for: request)
        var isRenewed = false
        var attempt = 1
        while true {
            let error: HeliographError
            let sent = try builder.build(named(request), bearer: Self.token(of: request, credential), requestID: requestID)
            do throws(TransportError) {
                let response = try await exchange(sent)
                if 200...299 ~= response.status || response.status == 304 {
                    budget.withLock { $0.noteSuccess() }
                    return response
                }
                error = HeliographError(response, requestID: requestID, now: time.now())
            } catch let failure {
                error = HeliographError(failure, requestID: requestID)
            }
            if error.status == 401, let refused = credential, !isRenewed {
                isRenewed = true
                guard let replacement = try await credentials.replacement(for: refused) else { throw error }
                credential = replacement
                continue
            }
            guard request.isRepeatable, mayRepeat, let delay = repetition.delay(after: error, attempt: attempt),
                budget.withLock({ $0.take() })
            else { throw error }
            attempt += 1
            do { try await time.sleep(delay) } catch { throw HeliographError(.cancelled, "The task was cancelled") }
        }
    }

    private func credential(
        for request: APIRequest<some Sendable>
    ) async throws(HeliographError) -> AccountCredentials.Credential? {
        switch request.bearer {
        case .none, .token: return nil
        case .accountIfSignedIn: return try await credentials.credential()
        case .account:
            guard let credential = try await credentials.credential() else { throw AccountCredentials.signedOut }
            return credential
        }
    }

    private static func token(of request: APIRequest<some Sendable>, _ credential: AccountCredentials.Credential?) -> String? {
        if case .token(let token) = request.bearer { token } else { credential?.token }
    }

    /// The request with the header that names the phone of a Firebase user.
    private func named<Answer>(_ request: APIRequest<Answer>) -> APIRequest<Answer> {
        guard credentials.firebase != nil, [.account, .accountIfSignedIn].contains(request.bearer), let id = installationID.withLock({ $0 })
        else { return request }
        var request = request
        request.headers["X-Firebase-Installation-ID"] = id
        return request
    }
}
