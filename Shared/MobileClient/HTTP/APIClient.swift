internal import Foundation

/// Sends the requests of the API: with the credential of the account, its renewal, repetitions, and one kind of error.
public final class APIClient: APISender {
    /// Which API, and for which app.
    public let configuration: ClientConfiguration
    /// The sign-in of the account on this device.
    public let credentials: AccountCredentials

    /// Exchanges refresh tokens: for the renewal of the sign-in in use, and for the logout of a sign-in that is not in use.
    let exchange: TokenExchange

    let transport: any HTTPTransport
    let time: TimeSource
    let repetition: RequestRepetition
    let budget = Locked(RepetitionBudget())
    let builder: RequestBuilder
    /// Makes the proofs of the device's key; nil for sign-ins without one.
    let proofs: DeviceProofs?
    let installationID = Locked<String?>(nil)

    /// Creates a client. One for a process is enough, and shares the connections and the budget of repetitions.
    ///
    /// - Parameters:
    ///   - configuration: The API and the app.
    ///   - transport: Sends the requests.
    ///   - storage: Where the tokens and the key of the device are kept.
    ///   - firebase: Gives the tokens of an app that signs in with Firebase; nil for the sign-in by face.
    ///   - time: The time of day and the waits.
    public convenience init(
        configuration: ClientConfiguration, transport: any HTTPTransport, storage: ClientStorage,
        firebase: FirebaseTokenProvider? = nil, time: TimeSource = .system
    ) {
        // Firebase's sign-ins have no key.
        let maker = firebase == nil ? storage.keyMaker : nil
        self.init(
            configuration: configuration, transport: transport, credentials: storage.credentials, firebase: firebase, time: time,
            proofs: maker.map { DeviceProofs($0, keeping: storage.deviceKey, time: time) })
    }

    init(
        configuration: ClientConfiguration, transport: any HTTPTransport, credentials: any CredentialStore,
        firebase: FirebaseTokenProvider? = nil, time: TimeSource, repetition: RequestRepetition = RequestRepetition(),
        proofs: DeviceProofs? = nil
    ) {
        let builder = RequestBuilder(configuration: configuration)
        self.configuration = configuration
        self.transport = transport
        self.time = time
        self.repetition = repetition
        self.builder = builder
        self.proofs = proofs
        let exchange = TokenExchange(builder: builder, transport: transport, time: time, proofs: proofs)
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
}
