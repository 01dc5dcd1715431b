internal import FoundationEssentials
internal import HTTPClient
internal import HeliographCrypto

/// What Google answers to an assertion.
struct TokenGrant: Sendable {
    let token: String
    let lifetimeSeconds: Double
}

/// Exchanges a signed assertion for an access token (RFC 7523, as Google documents it for service accounts).
struct TokenRequest: Sendable {
    /// The least right that suffices.
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// How long an assertion is valid, in seconds: Google's maximum.
    static let assertionSeconds = 3600
    static let timeout: Duration = .seconds(15)

    let key: ServiceAccountKey
    let url: String
    let audience: String
    let http: HTTPClient

    func grant(at time: Date) async -> Result<TokenGrant, FCMError> {
        do throws(FCMError) {
            let assertion = try assertion(at: Int(time.timeIntervalSince1970))
            let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
            return .success(try await send(form))
        } catch {
            return .failure(error)
        }
    }

    func assertion(at seconds: Int) throws(FCMError) -> String {
        struct Header: Encodable {
            var alg = "RS256"
            var typ = "JWT"
            let kid: String
        }
        struct Claims: Encodable {
            let iss, scope, aud: String
            let iat, exp: Int
        }
        let claims = Claims(
            iss: key.clientEmail, scope: Self.scope, aud: audience, iat: seconds, exp: seconds + Self.assertionSeconds)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let header = Base64URL.encode([UInt8](try encoder.encode(Header(kid: key.privateKeyID))))
            let signed = "\(header).\(Base64URL.encode([UInt8](try encoder.encode(claims))))"
            return "\(signed).\(Base64URL.encode(try key.privateKey.signRS256(Array(signed.utf8))))"
        } catch {
            throw FCMError(.configuration, "the assertion cannot be signed", underlying: error)
        }
    }

    private func send(_ form: String) async throws(FCMError) -> TokenGrant {
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await http.execute(
                HTTPClientRequest(
                    method: "POST", url: url, headers: [("Content-Type", "application/x-www-form-urlencoded")],
                    body: Array(form.utf8), timeout: Self.timeout))
        } catch {
            throw FCMError(.tokenUnavailable, "the token endpoint does not answer", underlying: error)
        }
        return try Self.read(response)
    }

    /// Reads the answer; a refusal's code is kept, its text is not, as it may name the account.
    static func read(_ response: HTTPClientResponse) throws(FCMError) -> TokenGrant {
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
            return TokenGrant(token: token, lifetimeSeconds: answer?.expires_in ?? 3600)
        }
        let reason = answer?.error.map { $0.filter { $0.isASCII && ($0.isLetter || $0 == "_") } } ?? "no reason given"
        let isFinal = (400..<500).contains(response.status) && response.status != 408 && response.status != 429
        throw FCMError(
            isFinal ? .credentialsRefused : .tokenUnavailable,
            "the token endpoint answered \(response.status): \(reason.prefix(64))")
    }
}
