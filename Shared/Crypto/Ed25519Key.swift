internal import COpenSSL

/// Signs with Ed25519 (RFC 8032 §5.1). The same key and message give the same signature.
public struct Ed25519Key: Sendable, CustomStringConvertible, CustomReflectable {
    /// The length of a seed and of a public key, in bytes.
    public static let byteCount = 32
    /// The length of a signature, in bytes.
    public static let signatureByteCount = 64

    /// Verifies the signatures of this key.
    public let publicKey: Ed25519PublicKey
    private let handle: KeyHandle

    /// Makes the key of a seed: 32 secret bytes that cannot be guessed.
    ///
    /// - Throws: `invalidKey` for another length.
    public init(seed: [UInt8]) throws(CryptoError) {
        guard seed.count == Self.byteCount else { throw CryptoError(.invalidKey, "the seed is not of \(Self.byteCount) bytes") }
        handle = try KeyHandle(adopting: EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count))
        publicKey = try Ed25519PublicKey(bytes: handle.publicBytes())
    }

    /// Returns the signature of a message.
    public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .library("EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(context) }
        var length = Self.signatureByteCount
        var signature = [UInt8](repeating: 0, count: length)
        // Ed25519 hashes by itself: a digest would be refused.
        guard EVP_DigestSignInit(context, nil, nil, nil, handle.pointer) == 1,
            EVP_DigestSign(context, &signature, &length, message, message.count) == 1, length == signature.count
        else { throw .library("signing") }
        return signature
    }

    /// The name of the type; never the key.
    public var description: String { "Ed25519Key" }
    /// Hides the key from `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Verifies signatures of an ``Ed25519Key``.
public struct Ed25519PublicKey: Sendable, Equatable {
    /// The key as RFC 8032 encodes it, which is the `x` of a JSON Web Key (RFC 8037 §2).
    public let bytes: [UInt8]
    private let handle: KeyHandle

    /// Makes a key from its 32 bytes. Bytes that are not a point of the curve make a key that verifies no signature.
    ///
    /// - Throws: `invalidKey` for another length.
    public init(bytes: [UInt8]) throws(CryptoError) {
        guard bytes.count == Ed25519Key.byteCount else {
            throw CryptoError(.invalidKey, "the public key is not of \(Ed25519Key.byteCount) bytes")
        }
        handle = try KeyHandle(adopting: EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count))
        self.bytes = bytes
    }

    /// Returns whether a signature belongs to a message.
    public func verify(signature: [UInt8], message: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, nil, nil, handle.pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// Compares the bytes; public keys are no secret, so the time that it takes does not matter.
    public static func == (first: Self, second: Self) -> Bool { first.bytes == second.bytes }
}

extension KeyHandle {
    fileprivate func publicBytes() throws(CryptoError) -> [UInt8] {
        var length = Ed25519Key.byteCount
        var bytes = [UInt8](repeating: 0, count: length)
        guard EVP_PKEY_get_raw_public_key(pointer, &bytes, &length) == 1, length == bytes.count else {
            throw .library("reading the public key")
        }
        return bytes
    }
}
