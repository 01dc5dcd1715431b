/// The fault of a body that is not valid JSON, or of a text that is not valid base64.
///
/// The message is for the log: it names positions and limits, never contents of the body.
public struct JSONStreamError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of fault that callers may distinguish.
    public enum Code: String, Sendable, Equatable, CaseIterable {
        /// Not JSON (RFC 8259), or not an object.
        case malformed
        /// An object has the same name twice.
        case duplicateName
        /// The value of a streamed member is not a text.
        case notText
        /// A limit of ``JSONStreamLimits`` is exceeded.
        case limitExceeded
        /// The body ended before the object did.
        case truncated
        /// A text is not base64 (RFC 4648 §4), or not a data URI of it.
        case badBase64
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence for the log.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message, for logs.
    public var description: String { "\(code.rawValue): \(message)" }
}

/// The limits of a body apart from its streamed texts.
public struct JSONStreamLimits: Sendable, Equatable {
    /// Bytes of a name, escapes included.
    public var nameBytes = 128
    /// Bytes of a value that is not streamed, escapes included.
    public var valueBytes = 16 * 1024
    /// Members of the object.
    public var members = 32
    /// Bytes of white space between two tokens.
    public var blankBytes = 64 * 1024

    /// Creates the default limits.
    public init() {}
}
