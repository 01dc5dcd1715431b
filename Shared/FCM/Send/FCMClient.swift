public import FoundationEssentials
public import HTTPClient

/// What a client is made with.
public struct FCMConfiguration: Sendable {
    /// Where FCM is, without a path; another address than Google's must be https, or on this machine.
    public var baseURL = "https://fcm.googleapis.com"
    /// How long one send may take; Google asks for at least 10 seconds.
    public var timeout: Duration = .seconds(15)

    /// The configuration for the real FCM.
    public init() {}
}

/// Sends messages to FCM and says what became of each.
public struct FCMClient: Sendable {
    private let url: String
    private let timeout: Duration
    private let http: HTTPClient
    private let tokens: any AccessTokenSource
    private let now: @Sendable () -> Date

    /// Makes a client for the project of a service account.
    ///
    /// - Throws: `configuration` when the base URL may not be used.
    public init(
        configuration: FCMConfiguration = .init(), key: ServiceAccountKey, tokens: any AccessTokenSource,
        http: HTTPClient, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(FCMError) {
        url = try FCMEndpoints(baseURL: configuration.baseURL, tokenURL: nil, key: key).send
        timeout = configuration.timeout
        self.tokens = tokens
        self.http = http
        self.now = now
    }

    /// Sends a message once; a send whose access token is refused is made a second time with a new one.
    ///
    /// - Parameter validateOnly: has FCM check the message and not deliver it.
    public func send(_ message: FCMMessage, validateOnly: Bool = false) async -> FCMResult {
        let body: [UInt8]
        let token: String
        do throws(FCMError) {
            body = try message.requestBody(validateOnly: validateOnly)
            token = try await tokens.accessToken()
        } catch {
            return switch error.code {
            case .invalidMessage: FCMResult(.badPayload, code: "invalid_message")
            case .tokenUnavailable: FCMResult(.notSent, code: "token_unavailable")
            case .credentialsRefused, .configuration: FCMResult(.ourAuth, code: "credentials_refused")
            }
        }
        let first = await post(body, token: token)
        guard first.outcome == .ourAuth, let other = await tokens.accessToken(afterRefusalOf: token) else {
            return first
        }
        return await post(body, token: other)
    }

    private func post(_ body: [UInt8], token: String) async -> FCMResult {
        do throws(HTTPClientError) {
            let response = try await http.execute(
                HTTPClientRequest(
                    method: "POST", url: url,
                    headers: [
                        ("Authorization", "Bearer \(token)"), ("Content-Type", "application/json; charset=UTF-8"),
                    ], body: body, timeout: timeout))
            return FCMClassifier.classify(response, now: now())
        } catch {
            return FCMClassifier.classify(error)
        }
    }
}
