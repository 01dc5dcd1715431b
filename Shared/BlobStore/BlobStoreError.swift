public import AsyncPrimitives

/// The reason why an object could not be stored, read or deleted.
///
/// The message is for the log: it names keys and system errors, never content.
public struct BlobStoreError: DependencyFailure, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers distinguish.
    public enum Code: String, Sendable, CaseIterable {
        /// A text is not a valid key.
        case invalidKey
        /// There is no object of that key.
        case notFound
        /// The object is larger than the caller allows.
        case tooLarge
        /// The object does not open: it was changed, truncated or moved, or the key it was sealed with is gone.
        case damaged
        /// The store itself failed: disk full, no permission, input/output error.
        case unavailable
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence for the log.
    public let message: String
    /// The error that caused this one, if any.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// Whether the store itself failed.
    public var isUnavailability: Bool { code == .unavailable }

    /// The code and the message, for logs.
    public var description: String { "\(code.rawValue): \(message)" }
}
