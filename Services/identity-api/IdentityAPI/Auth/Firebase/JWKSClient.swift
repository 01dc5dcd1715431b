internal import FoundationEssentials
internal import HTTPClient
internal import HeliographCrypto
internal import JSON

/// Fetches signing keys as a JSON Web Key Set (RFC 7517 §5).
struct JWKSClient: Sendable {
    /// Google's keys for the ID tokens of all Firebase projects.
    static let googleURL = "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
    /// The maximum size of a set: Google's has two keys in some 1 KB.
    static let maxBytes = 64 * 1_024
    private static let maxKeys = 32

    /// Why there are no keys.
    struct Fault: Error, CustomStringConvertible { let description: String }

    let url: String
    let http: HTTPClient
    /// The time limit of a fetch.
    let timeout: Duration

    /// Fetches the keys.
    ///
    /// - Throws: `HTTPClientError`, or ``Fault`` for an answer that is no set of keys.
    func fetch() async throws -> FetchedKeys<RSAPublicKey> {
        let response = try await http.execute(HTTPClientRequest(url: url, headers: [("Accept", "application/json")], timeout: timeout))
        guard response.status == 200 else { throw Fault(description: "the key server answered \(response.status)") }
        guard let json = try? JSONValue(parsing: response.body, limits: JSONLimits(maxDepth: 8, maxValues: 1_024)),
            let listed = json["keys"]?.elements, listed.count <= Self.maxKeys
        else { throw Fault(description: "the answer is not a set of up to \(Self.maxKeys) keys") }
        let keys = Dictionary(listed.compactMap(Self.key), uniquingKeysWith: { first, _ in first })
        guard !keys.isEmpty else { throw Fault(description: "the set has no RSA key for RS256") }
        return FetchedKeys(keys: keys, lifetime: response.freshLifetime)
    }

    /// Reads a key; nil for one of another kind or for another purpose, which is to be ignored.
    private static func key(_ json: JSONValue) -> (String, RSAPublicKey)? {
        guard json["kty"]?.string == "RSA", json["alg"].map({ $0.string == "RS256" }) ?? true,
            json["use"].map({ $0.string == "sig" }) ?? true, let id = json["kid"]?.string, !id.isEmpty,
            let modulus = json["n"]?.string.flatMap(Base64URL.decode), let exponent = json["e"]?.string.flatMap(Base64URL.decode),
            let key = try? RSAPublicKey(modulus: modulus, exponent: exponent)
        else { return nil }
        return (id, key)
    }
}
