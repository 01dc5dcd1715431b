internal import COpenSSL

/// Computes SHA-256 digests (FIPS 180-4), which are 32 bytes long.
public enum SHA256 {
    /// The length of a digest, in bytes.
    public static let digestByteCount = 32

    /// Returns the digest of some bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// Returns the digest of the bytes in memory.
    public static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hasher = Hasher()
        hasher.update(bytes)
        return hasher.finalize()
    }

    /// Returns the digest of a text's UTF-8 bytes.
    public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }

    /// Computes the digest of a message that arrives in pieces.
    public struct Hasher: ~Copyable {
        private let context: OpaquePointer

        /// Starts an empty message.
        public init() {
            guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
                preconditionFailure("OpenSSL has no SHA-256 or no memory: nothing can go on without")
            }
            self.context = context
        }

        /// Adds the bytes in memory to the message.
        public mutating func update(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count > 0 else { return }
            let status = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
            precondition(status == 1, "EVP_DigestUpdate fails only on a finished context")
        }

        /// Adds some bytes to the message.
        public mutating func update(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { update($0) }
        }

        /// Ends the message and returns its digest.
        public consuming func finalize() -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: digestByteCount) { digest, count in
                let status = EVP_DigestFinal_ex(context, digest.baseAddress, nil)
                precondition(status == 1, "EVP_DigestFinal_ex fails only on a finished context")
                count = digestByteCount
            }
        }

        deinit { EVP_MD_CTX_free(context) }
    }
}
