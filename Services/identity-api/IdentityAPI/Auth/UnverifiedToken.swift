internal import HeliographCrypto
internal import JSON

/// A JSON Web Token (RFC 7519) that is decoded and not verified: its parameters and claims are objects.
struct UnverifiedToken: Sendable {
    /// The maximum length of the text. Firebase's ID tokens have 900 to 1,300 bytes, and up to 1,000 bytes of an app's own claims.
    static let maxBytes = 4_096
    /// Base64url has no dots, so a token of three parts is no token of ours.
    private static let separator = UInt8(ascii: ".")
    private static let limits = JSONLimits(maxDepth: 8, maxValues: 256)

    /// The parameters of the signature.
    let header: JSONValue
    /// The claims.
    let payload: JSONValue
    /// The signature, and the bytes that it is of.
    let jws: JWS

    /// Whether a bearer has three parts, as a signed token of an identity provider has.
    static func hasShape(_ text: String) -> Bool { text.utf8.count { $0 == separator } == 2 }

    /// Reads a token; nil unless it has three parts in canonical base64url. The first two have to be objects with unique names.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, let jws = JWS(text), let header = Self.object(jws.header),
            let payload = Self.object(jws.payload)
        else { return nil }
        self.header = header
        self.payload = payload
        self.jws = jws
    }

    private static func object(_ bytes: [UInt8]) -> JSONValue? {
        guard let value = try? JSONValue(parsing: bytes, limits: limits), value.members != nil else { return nil }
        return value
    }
}
