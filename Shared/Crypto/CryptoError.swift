internal import COpenSSL

/// The failure of a cryptographic operation; it never carries key material or plaintext.
public struct CryptoError: Error, Equatable, CustomStringConvertible {
    /// The kinds of failure that callers may distinguish.
    public enum Code: String, Sendable {
        /// A key, a key ring or a PEM text could not be parsed.
        case invalidKey
        /// The key id in the header of a sealed value is not in the key ring.
        case unknownKey
        /// A sealed value has the wrong version or kind, or is too short.
        case malformed
        /// The seal is broken: tampered, truncated, reordered, or opened in another context.
        case authenticationFailed
        /// A stream was used after it was finished, or is longer than a stream may be.
        case streamMisuse
        /// OpenSSL refused; ``CryptoError/message`` has its reason.
        case library
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for the log.
    public let message: String

    /// Creates an error from its kind and a sentence for the log.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message, for logs.
    public var description: String { "\(code.rawValue): \(message)" }

    /// Creates an error from the oldest entry of OpenSSL's error queue of this thread, and empties the queue.
    static func library(_ operation: String, code: Code = .library) -> CryptoError {
        let number = ERR_get_error()
        ERR_clear_error()
        guard number != 0, let reason = ERR_reason_error_string(number) else {
            return CryptoError(code, "\(operation) failed")
        }
        return CryptoError(code, "\(operation) failed: \(String(cString: reason))")
    }
}
