internal import FoundationEssentials
internal import HTTPClient

/// Requests an access token from an issuer.
protocol TokenRequest: Sendable {
    /// Sends one request; `time` is the caller's current time.
    func grant(at time: Date) async -> Result<TokenGrant, FCMError>
}

/// An access token and its lifetime.
struct TokenGrant: Sendable {
    /// The longest lifetime that is accepted; Google's tokens live for an hour.
    private static let maxLifetimeSeconds = 86_400.0
    /// The narrowest OAuth scope that allows sending.
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    let token: String
    let lifetimeSeconds: Double

    init(token: String, lifetimeSeconds: Double) {
        self.token = token
        self.lifetimeSeconds = lifetimeSeconds
    }

    /// Parses a response (RFC 6749 §5). Of a refusal only the code is kept, because its text may name the account.
    init(_ response: HTTPClientResponse, of name: String) throws(FCMError) {
        struct Answer: Decodable {
            let access_token: String?
            let expires_in: Double?
            let token_type: String?
            let error: String?
        }
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
        if response.status == 200, let token = answer?.access_token, !token.isEmpty,
            answer?.token_type?.lowercased() == "bearer", token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        {
            self.init(token: token, lifetimeSeconds: min(max(answer?.expires_in ?? 3600, 0), Self.maxLifetimeSeconds))
            return
        }
        let reason = answer?.error.map { $0.filter { $0.isASCII && ($0.isLetter || $0 == "_") } } ?? "no reason given"
        let isFinal = (400..<500).contains(response.status) && response.status != 408 && response.status != 429
        throw FCMError(
            isFinal ? .credentialsRefused : .tokenUnavailable, "\(name) answered \(response.status): \(reason.prefix(64))")
    }
}

extension HTTPClient {
    /// Sends a request for a token.
    ///
    /// - Parameter name: The issuer, for the log.
    func requestToken(_ name: String, _ request: HTTPClientRequest) async throws(FCMError) -> HTTPClientResponse {
        do throws(HTTPClientError) {
            return try await execute(request)
        } catch {
            throw FCMError(.tokenUnavailable, "\(name) does not answer", underlying: error)
        }
    }
}
