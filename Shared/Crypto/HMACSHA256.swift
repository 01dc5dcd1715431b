internal import COpenSSL

/// Computes message authentication codes by HMAC with SHA-256 (RFC 2104), which are 32 bytes long.
///
/// The key is prepared once for many codes, because this is most of the work for a short message.
///
/// Sendable is unchecked: the context never changes after `init`: each code is computed in a copy of it.
public final class HMACSHA256: @unchecked Sendable {
    /// Fetched once, because OpenSSL 3 would look up the provider's algorithm at each use.
    ///
    /// Never changed and never freed, so any thread may use it.
    private nonisolated(unsafe) static let algorithm = EVP_MAC_fetch(nil, "HMAC", nil)

    private let context: OpaquePointer

    /// Prepares a key of any length.
    public init(key: [UInt8]) {
        // EVP_MAC_init() reads a null key as "keep the old one", so an empty key needs an address too.
        let keyOrZero = key.isEmpty ? [0] : key
        // A parameter points to its name and its value.
        var value = Array("SHA256".utf8CString)
        let context = "digest".withCString { name in
            value.withUnsafeMutableBufferPointer { value -> OpaquePointer? in
                let parameters = [OSSL_PARAM_construct_utf8_string(name, value.baseAddress, 0), OSSL_PARAM_construct_end()]
                guard let context = EVP_MAC_CTX_new(Self.algorithm), EVP_MAC_init(context, keyOrZero, key.count, parameters) == 1
                else { return nil }
                return context
            }
        }
        guard let context else { preconditionFailure("OpenSSL has no HMAC or no memory: nothing can go on without") }
        self.context = context
    }

    deinit { EVP_MAC_CTX_free(context) }  // it also wipes the derived key state

    /// Returns the code of a message.
    public func authenticate(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.digestByteCount) { output, count in
            let copy = EVP_MAC_CTX_dup(context)
            defer { EVP_MAC_CTX_free(copy) }
            let status =
                EVP_MAC_update(copy, message, message.count) == 1
                && EVP_MAC_final(copy, output.baseAddress, &count, SHA256.digestByteCount) == 1
            precondition(status && count == SHA256.digestByteCount, "HMAC fails only without memory")
        }
    }

    /// Returns the code of a message under a key of any length.
    public static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        HMACSHA256(key: key).authenticate(message)
    }

    /// Returns in constant time whether a code belongs to a message.
    public static func isValid(_ code: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
        constantTimeEqual(code, authenticate(message, key: key))
    }
}

/// Returns whether two byte strings are equal, in a time that depends on their lengths only.
public func constantTimeEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
}
