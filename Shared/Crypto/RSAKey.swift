internal import COpenSSL

/// Owns an OpenSSL key.
///
/// Sendable because the key is never changed: OpenSSL guards the caches inside it with its own locks, and every signature has its
/// own context.
final class RSAKeyHandle: @unchecked Sendable {
    /// The minimum number of bits of a key; fewer are not safe any more.
    static let minBits = 2048

    let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer?) throws(CryptoError) {
        guard let pointer else { throw .library("reading the key", code: .invalidKey) }
        guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA, EVP_PKEY_get_bits(pointer) >= Self.minBits else {
            EVP_PKEY_free(pointer)
            throw CryptoError(.invalidKey, "the key is not RSA of at least \(Self.minBits) bits")
        }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Reads a key from a PEM text with one of OpenSSL's readers.
    static func read(pem: String, with reader: (OpaquePointer) -> OpaquePointer?) throws(CryptoError) -> RSAKeyHandle {
        let text = Array(pem.utf8)
        guard let bio = text.withUnsafeBytes({ BIO_new_mem_buf($0.baseAddress, Int32($0.count)) }) else {
            throw .library("BIO_new_mem_buf")
        }
        defer { BIO_free(bio) }
        // Keeps the memory of `text` alive during the reading, which the optimiser does not know of.
        return try withExtendedLifetime(text) { () throws(CryptoError) in try RSAKeyHandle(adopting: reader(bio)) }
    }

    /// Returns the PEM text of the key, written by one of OpenSSL's writers.
    func pem(with writer: (OpaquePointer, OpaquePointer) -> Int32) throws(CryptoError) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { throw .library("BIO_new") }
        defer { BIO_free(bio) }
        guard writer(bio, pointer) == 1 else { throw .library("writing the key") }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = BIO_read(bio, &buffer, Int32(buffer.count)), count > 0 {
            text += buffer[..<Int(count)]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
