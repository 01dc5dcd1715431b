/// A JSON Web Signature in compact form (RFC 7515 §7.1): three parts in base64url, with dots between them. Nothing of it is verified.
public struct JWS: Sendable {
    /// The parameters of the signature, as JSON.
    public let header: [UInt8]
    /// What is signed with them; of a JSON Web Token the claims, as JSON.
    public let payload: [UInt8]
    /// The bytes that the signature is of: the first two parts as they were sent, with the dot between them.
    public let signedBytes: [UInt8]
    /// The signature; not empty.
    public let signature: [UInt8]

    /// Splits and decodes a text; nil unless it has three parts in canonical base64url, and a signature.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(String(parts[0])), let payload = Base64URL.decode(String(parts[1])),
            let signature = Base64URL.decode(String(parts[2])), !signature.isEmpty
        else { return nil }
        (self.header, self.payload, self.signature) = (header, payload, signature)
        signedBytes = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    /// Returns the compact form of a header and a payload, whose bytes `signature` signs.
    public static func compact(
        header: [UInt8], payload: [UInt8], signature: (_ signedBytes: [UInt8]) throws(CryptoError) -> [UInt8]
    ) throws(CryptoError) -> String {
        let signed = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
        return "\(signed).\(Base64URL.encode(try signature(Array(signed.utf8))))"
    }
}
