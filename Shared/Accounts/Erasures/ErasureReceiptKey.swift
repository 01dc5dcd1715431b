public import HeliographCrypto
public import JSON

/// Signs the receipts of erasures, and verifies them: a JSON Web Signature in compact form (RFC 7515 §7.1) with Ed25519 (RFC 8037).
///
/// A key derives from each key of `LOOKUP_KEYS`: the first one signs, all verify. Their public halves are published, so that a receipt can
/// be verified without the secrets.
public struct ErasureReceiptKey: Sendable {
    /// The explicit type of a receipt (RFC 8725 §3.11): other texts that this key might sign do not count as receipts.
    public static let type = "erasure-receipt+jwt"

    private struct Signer: Sendable {
        /// The thumbprint (RFC 7638), the same for each process that derives the key.
        let id: String
        let key: Ed25519Key
        /// The parameters of each receipt.
        let header: [UInt8]

        init(_ key: Ed25519Key) {
            self.key = key
            // The thumbprint is of exactly these members, in the order of their names (RFC 7638 §3.2, RFC 8037 §2).
            let required: JSONValue = .members(
                ("crv", "Ed25519"), ("kty", "OKP"), ("x", .string(Base64URL.encode(key.publicKey.bytes))))
            id = Base64URL.encode(SHA256.hash(required.bytes))
            let header: JSONValue = .members(("alg", "EdDSA"), ("kid", .string(id)), ("typ", .string(ErasureReceiptKey.type)))
            self.header = header.bytes
        }
    }

    private let signers: [Signer]

    /// The id of the key that signs.
    public var id: String { signers[0].id }

    /// Derives the keys from `LOOKUP_KEYS`.
    ///
    /// - Throws: ``CryptoError`` when OpenSSL refuses.
    public init(lookupKeys: LookupKeys) throws(CryptoError) {
        signers = try lookupKeys.hashes(of: "heliograph erasure receipt").map { seed throws(CryptoError) in
            Signer(try Ed25519Key(seed: seed))
        }
    }

    /// The beginning of the receipts that each key has signed, in the order of the ring.
    public var headers: [String] { signers.map { Base64URL.encode($0.header) + "." } }

    init(key: Ed25519Key) { signers = [Signer(key)] }

    /// Returns the receipt with some claims, an object.
    public func sign(_ claims: JSONValue) throws(CryptoError) -> String { try sign(claims.bytes) }

    private func sign(_ claims: [UInt8]) throws(CryptoError) -> String {
        try JWS.compact(header: signers[0].header, payload: claims) { bytes throws(CryptoError) in try signers[0].key.sign(bytes) }
    }

    /// Returns the claims of a receipt as JSON text; nil unless one of the keys has signed it as a receipt.
    public func verifiedClaims(of receipt: String) -> String? {
        // A receipt of a key has these very bytes, so that no header of a stranger is ever read.
        guard let jws = JWS(receipt), let signer = signers.first(where: { jws.header == $0.header }),
            signer.key.publicKey.verify(signature: jws.signature, message: jws.signedBytes)
        else { return nil }
        return String(decoding: jws.payload, as: UTF8.self)
    }

    /// Returns a receipt with the same claims, signed by the first key; nil when the first key has signed this receipt.
    ///
    /// - Throws: `authenticationFailed` when no key of the ring has signed it.
    public func signedAnew(_ receipt: String) throws(CryptoError) -> String? {
        guard let claims = verifiedClaims(of: receipt) else {
            throw CryptoError(.authenticationFailed, "no key of the ring has signed the receipt")
        }
        return receipt.hasPrefix(headers[0]) ? nil : try sign(Array(claims.utf8))
    }

    /// The public keys as a JSON Web Key Set (RFC 7517 §5); the signing key comes first.
    public var publicKeys: JSONValue {
        let keys = signers.map { signer in
            JSONValue.members(
                ("kty", "OKP"), ("crv", "Ed25519"), ("x", .string(Base64URL.encode(signer.key.publicKey.bytes))), ("alg", "EdDSA"),
                ("use", "sig"), ("kid", .string(signer.id)))
        }
        return .members(("keys", .array(keys)))
    }
}
