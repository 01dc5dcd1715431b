internal import COpenSSL

/// Verifies signatures of an ``RSAPrivateKey``.
public struct RSAPublicKey: Sendable {
    private let handle: RSAKeyHandle

    /// Reads a public key from PEM (SubjectPublicKeyInfo).
    ///
    /// - Throws: `invalidKey` unless it is an RSA key of at least 2048 bits.
    public init(pem: String) throws(CryptoError) {
        handle = try RSAKeyHandle.read(pem: pem) { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in 0 }, nil) }
    }

    /// Makes a public key from its numbers, as a JSON Web Key has them (RFC 7518 §6.3.1): unsigned, the most significant byte first.
    ///
    /// - Throws: `invalidKey` unless it is an RSA key of 2048 to ``maxBits`` bits.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        handle = try RSAKeyHandle.make(modulus: modulus, exponent: exponent)
    }

    /// The maximum number of bits of a key that is made from its numbers: a longer one from a hostile source would make each check slow.
    public static let maxBits = 4096

    /// The numbers of the key, as in ``init(modulus:exponent:)``.
    public var numbers: (modulus: [UInt8], exponent: [UInt8]) {
        get throws(CryptoError) { (try handle.number("n"), try handle.number("e")) }
    }

    /// Returns whether a signature belongs to a message.
    public func verifyRS256(signature: [UInt8], message: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// Returns the key as PEM.
    public func pem() throws(CryptoError) -> String { try handle.pem { PEM_write_bio_PUBKEY($0, $1) } }
}
