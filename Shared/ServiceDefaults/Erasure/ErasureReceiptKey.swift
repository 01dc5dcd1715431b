public import HeliographCrypto
public import JSON

/// Signs the receipts of erasures, and verifies them: a JSON Web Signature in compact form (RFC 7515 §7.1) with Ed25519 (RFC 8037).
///
/// The key derives from `LOOKUP_KEY`. Its public half is published, so that a receipt can be verified without the secret.
public struct ErasureReceiptKey: Sendable {
    /// The explicit type of a receipt (RFC 8725 §3.11): nothing else that this key might sign is taken for one.
    public static let type = "erasure-receipt+jwt"

    /// The id of the key: its thumbprint (RFC 7638), the same for each process that derives it.
    public let id: String
    private let key: Ed25519Key
    /// The first part of each receipt, in base64url.
    private let header: String

    /// Derives the key from `LOOKUP_KEY`.
    ///
    /// - Throws: ``CryptoError`` when OpenSSL refuses.
    public init(lookupKey: [UInt8]) throws(CryptoError) {
        try self.init(
            key: Ed25519Key(seed: HMACSHA256.authenticate(Array("heliograph erasure receipt".utf8), key: lookupKey)))
    }

    init(key: Ed25519Key) {
        self.key = key
        // The thumbprint is of exactly these members, in the order of their names (RFC 7638 §3.2, RFC 8037 §2).
        let required: JSONValue = .members(
            ("crv", "Ed25519"), ("kty", "OKP"), ("x", .string(Base64URL.encode(key.publicKey.bytes))))
        id = Base64URL.encode(SHA256.hash(required.bytes))
        let header: JSONValue = .members(("alg", "EdDSA"), ("kid", .string(id)), ("typ", .string(Self.type)))
        self.header = Base64URL.encode(header.bytes)
    }

    /// Returns the receipt with some claims, an object.
    public func sign(_ claims: JSONValue) throws(CryptoError) -> String {
        let signed = "\(header).\(Base64URL.encode(claims.bytes))"
        return "\(signed).\(Base64URL.encode(try key.sign(Array(signed.utf8))))"
    }

    /// Returns the claims of a receipt as JSON text; nil unless this key has signed it as a receipt.
    public func verifiedClaims(of receipt: String) -> String? {
        let parts = receipt.split(separator: ".", omittingEmptySubsequences: false)
        // A receipt of this key begins with these very bytes, so that no header of a stranger is ever read.
        guard parts.count == 3, parts[0] == header, let claims = Base64URL.decode(String(parts[1])),
            let signature = Base64URL.decode(String(parts[2])),
            key.publicKey.verify(signature: signature, message: Array("\(parts[0]).\(parts[1])".utf8))
        else { return nil }
        return String(decoding: claims, as: UTF8.self)
    }

    /// The public key as a JSON Web Key Set (RFC 7517 §5).
    public var publicKeys: JSONValue {
        let key: JSONValue = .members(
            ("kty", "OKP"), ("crv", "Ed25519"), ("x", .string(Base64URL.encode(key.publicKey.bytes))), ("alg", "EdDSA"), ("use", "sig"),
            ("kid", .string(id)))
        return .members(("keys", .array([key])))
    }
}
