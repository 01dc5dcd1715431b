internal import COpenSSL

/// Computes message authentication codes by HMAC with SHA-256 (RFC 2104), which are 32 bytes long.
public enum HMACSHA256 {
    /// Returns the code of a message under a key of any length.
    public static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.digestByteCount) { output, count in
            var length: UInt32 = 0
            // HMAC() reads a null key as "keep the old one", so an empty key needs an address too.
            let keyOrZero = key.isEmpty ? [0] : key
            let result = HMAC(
                EVP_sha256(), keyOrZero, Int32(key.count), message, message.count, output.baseAddress, &length)
            precondition(result != nil && Int(length) == SHA256.digestByteCount, "HMAC fails only without memory")
            count = Int(length)
        }
    }

    /// Tells in constant time whether a code belongs to a message.
    public static func isValid(_ code: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
        constantTimeEqual(code, authenticate(message, key: key))
    }
}

/// Tells whether two byte strings are equal, in a time that depends on their lengths only.
public func constantTimeEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
}
