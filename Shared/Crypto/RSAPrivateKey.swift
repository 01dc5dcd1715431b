internal import COpenSSL

/// Signs with RSA (RS256 of RFC 7518: PKCS #1 v1.5 with SHA-256), for instance with the key of a service account.
public struct RSAPrivateKey: Sendable, CustomStringConvertible {
    private let handle: RSAKeyHandle

    /// Reads an unencrypted private key from PEM, PKCS #8 or PKCS #1.
    ///
    /// - Throws: `invalidKey` unless it is an RSA key of at least 2048 bits.
    public init(pem: String) throws(CryptoError) {
        handle = try RSAKeyHandle.read(pem: pem) { bio in
            // Without a callback OpenSSL would ask the terminal for the pass phrase of an encrypted key.
            PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in 0 }, nil)
        }
    }

    private init(handle: RSAKeyHandle) { self.handle = handle }

    /// Generates a key of `bits` bits. It takes about a tenth of a second, and is meant for set-up and tests.
    ///
    /// - Throws: `invalidKey` below 2048 bits.
    public static func generate(bits: Int = 2048) throws(CryptoError) -> RSAPrivateKey {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil) else { throw .library("EVP_PKEY_CTX_new_id") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(clamping: bits)) == 1,
            EVP_PKEY_keygen(context, &key) == 1
        else { throw .library("making an RSA key", code: .invalidKey) }
        return RSAPrivateKey(handle: try RSAKeyHandle(adopting: key))
    }

    /// Returns the signature of a message. CPU-bound: about a millisecond for 2048 bits.
    public func signRS256(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .library("EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(context) }
        var length = Int(EVP_PKEY_get_size(handle.pointer))
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.pointer) == 1,
            EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw .library("signing") }
        return Array(signature[..<length])
    }

    /// The public key.
    public var publicKey: RSAPublicKey {
        get throws(CryptoError) {
            try RSAPublicKey(pem: try handle.pem { PEM_write_bio_PUBKEY($0, $1) })
        }
    }

    /// Returns the key as unencrypted PKCS #8 PEM: a secret.
    public func pem() throws(CryptoError) -> String {
        try handle.pem { PEM_write_bio_PKCS8PrivateKey($0, $1, nil, nil, 0, nil, nil) }
    }

    /// The name of the type; never the key.
    public var description: String { "RSAPrivateKey" }
}
