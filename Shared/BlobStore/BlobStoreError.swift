/// Why an object could not be stored, read or deleted.
///
/// The message is for the log: it names keys and system errors, never content.
public struct BlobStoreError: Error, Sendable, CustomStringConvertible {
    /// The kinds of fault a caller may want to tell apart.
    public enum Code: String, Sendable, CaseIterable {
        /// A text that is no key.
        case invalidKey
        /// There is no object of that key.
        case notFound
        /// The object is bigger than the reader allows.
        case tooLarge
        /// The object does not open: changed, cut, moved, or sealed with a key that is not there any more.
        case damaged
        /// The store itself failed: disk full, no permission, input/output error.
        case unavailable
    }

    /// What kind of fault it is.
    public let code: Code
    /// One sentence for the log.
    public let message: String
    /// The error that caused this one, if there was one.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The code and the message, for logs.
    public var description: String { "\(code.rawValue): \(message)" }
}
