internal import HeliographCrypto
internal import JSON

/// A JSON Web Signature in compact form (RFC 7515 §7.1), split and decoded: nothing of it is verified.
struct CompactJWS: Sendable {
    /// The maximum length of the text. Firebase's ID tokens have 900 to 1,300 bytes, and up to 1,000 bytes of an app's own claims.
    static let maxBytes = 4_096
    /// Base64url has no dots, so a token of three parts is no token of ours.
    private static let separator = UInt8(ascii: ".")
    private static let limits = JSONLimits(maxDepth: 8, maxValues: 256)

    /// The parameters of the signature.
    let header: JSONValue
    /// The claims.
    let payload: JSONValue
    /// The bytes that are signed: both parts as they were sent, with the dot between them.
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// Whether a bearer has three parts, as a signed token of an identity provider has.
    static func hasShape(_ text: String) -> Bool { text.utf8.count { $0 == separator } == 2 }

    /// Reads a token; nil unless it has three parts in canonical base64url, of which the first two are objects with unique names.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, Self.hasShape(text) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let header = Self.object(parts[0]), let payload = Self.object(parts[1]),
            let signature = Base64URL.decode(String(parts[2])), !signature.isEmpty
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedBytes = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    private static func object(_ part: Substring) -> JSONValue? {
        guard let bytes = Base64URL.decode(String(part)), let value = try? JSONValue(parsing: bytes, limits: limits),
            value.members != nil
        else { return nil }
        return value
    }
}
