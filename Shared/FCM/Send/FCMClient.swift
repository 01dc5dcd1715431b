public import FoundationEssentials
public import HTTPClient
internal import Synchronization

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
public final class FCMClient: Sendable {
    /// A request that is ready but for its body, and the access token in its header.
    private struct Ready {
        let token: String
        let request: PreparedRequest
    }

    private let url: String
    private let timeout: Duration
    private let http: HTTPClient
    private let tokens: any AccessTokenSource
    private let now: @Sendable () -> Date
    private let ready = Mutex<Ready?>(nil)

    /// Makes a client for the project of a service account.
    ///
    /// - Throws: `configuration` when the base URL may not be used.
    public convenience init(
        configuration: FCMConfiguration = .init(), key: ServiceAccountKey, tokens: any AccessTokenSource,
        http: HTTPClient, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(FCMError) {
        try self.init(configuration: configuration, projectID: key.projectID, tokens: tokens, http: http, now: now)
    }

    /// Makes a client for a project.
    ///
    /// - Throws: `configuration` when the base URL may not be used.
    public init(
        configuration: FCMConfiguration = .init(), projectID: String, tokens: any AccessTokenSource,
        http: HTTPClient, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(FCMError) {
        url = try FCMEndpoints.send(baseURL: configuration.baseURL, projectID: projectID)
        timeout = configuration.timeout
        self.tokens = tokens
        self.http = http
        self.now = now
    }

    /// Sends a message once to one device; a send whose access token is refused is made a second time with a new one,
    /// and so is one that certainly did not reach FCM, as when the connection had just been closed.
    ///
    /// - Parameters:
    ///   - badge: The number on the app's icon; nil leaves it as it is.
    ///   - validateOnly: Has FCM check the message and not deliver it.
    public func send(
        _ message: FCMMessage, to target: FCMTarget, badge: Int? = nil, validateOnly: Bool = false
    ) async -> FCMResult {
        let body = message.request(to: target, badge: badge, at: now(), validateOnly: validateOnly)
        let token: String
        do throws(FCMError) {
            token = try await tokens.accessToken()
        } catch {
            return switch error.code {
            case .invalidMessage: FCMResult(.badPayload, code: "invalid_message")
            case .tokenUnavailable: FCMResult(.notSent, code: "token_unavailable")
            case .credentialsRefused, .configuration: FCMResult(.ourAuth, code: "credentials_refused")
            }
        }
        var first = await post(body, token: token)
        if first.outcome == .notSent { first = await post(body, token: token) }
        guard first.outcome == .ourAuth, let other = await tokens.accessToken(afterRefusalOf: token) else { return first }
        return await post(body, token: other)
    }

    private func post(_ body: [UInt8], token: String) async -> FCMResult {
        do throws(HTTPClientError) {
            return FCMClassifier.classify(try await http.execute(request(token: token), body: body), now: now())
        } catch {
            return FCMClassifier.classify(error)
        }
    }

    /// The request with the header of a token; made anew only when the token is another.
    private func request(token: String) throws(HTTPClientError) -> PreparedRequest {
        if let ready = ready.withLock({ $0 }), ready.token == token { return ready.request }
        let request = try PreparedRequest(
            HTTPClientRequest(
                method: "POST", url: url,
                headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json; charset=UTF-8")],
                timeout: timeout))
        ready.withLock { $0 = Ready(token: token, request: request) }
        return request
    }
}
