internal import FoundationEssentials
internal import HTTPClient
internal import HeliographCrypto

/// Exchanges a signed assertion for an access token (RFC 7523, as Google documents it for service accounts).
struct ServiceAccountTokenRequest: TokenRequest {
    /// The lifetime of an assertion: Google's maximum.
    static let assertionSeconds = 3600
    private static let timeout: Duration = .seconds(15)
    private static let name = "the token endpoint"

    let key: ServiceAccountKey
    let url: String
    let audience: String
    let http: HTTPClient

    func grant(at time: Date) async -> Result<TokenGrant, FCMError> {
        do throws(FCMError) {
            let assertion = try assertion(at: Int(time.timeIntervalSince1970))
            let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
            let request = HTTPClientRequest(
                method: "POST", url: url, headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(form.utf8), timeout: Self.timeout)
            return .success(try TokenGrant(try await http.requestToken(Self.name, request), of: Self.name))
        } catch {
            return .failure(error)
        }
    }

    func assertion(at seconds: Int) throws(FCMError) -> String {
        struct Header: Encodable {
            var alg = "RS256"
            var typ = "JWT"
            let kid: String?
        }
        struct Claims: Encodable {
            let iss, scope, aud: String
            let iat, exp: Int
        }
        let claims = Claims(
            iss: key.clientEmail, scope: TokenGrant.scope, aud: audience, iat: seconds, exp: seconds + Self.assertionSeconds)
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try JWS.compact(
                header: [UInt8](try encoder.encode(Header(kid: key.privateKeyID))), payload: [UInt8](try encoder.encode(claims))
            ) { bytes throws(CryptoError) in try key.privateKey.signRS256(bytes) }
        } catch {
            throw FCMError(.configuration, "the assertion cannot be signed", underlying: error)
        }
    }
}
