internal import COpenSSL

/// Owns an OpenSSL key.
///
/// Sendable is unchecked: the key is never changed, OpenSSL guards the caches inside it with its own locks, and every signature has its
/// own context.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes a key that OpenSSL has made.
    ///
    /// - Throws: `invalidKey`, with OpenSSL's reason, when OpenSSL has made no key.
    init(adopting pointer: OpaquePointer?) throws(CryptoError) {
        guard let pointer else { throw .library("reading the key", code: .invalidKey) }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }
}
