/// Why a body is not the JSON, or a text not the base64, that was asked for.
///
/// The message is for the log: it names positions and limits, never what the body says.
public struct JSONStreamError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of fault a caller may want to tell apart.
    public enum Code: String, Sendable, Equatable, CaseIterable {
        /// Not JSON (RFC 8259), or not an object.
        case malformed
        /// A name that an object has twice.
        case duplicateName
        /// The value of a streamed member is not a text.
        case notText
        /// A limit of ``JSONStreamLimits`` is passed.
        case limitExceeded
        /// The body ended before the object did.
        case truncated
        /// A text is not base64 (RFC 4648 §4), or not a data URI of it.
        case badBase64
    }

    /// What kind of fault it is.
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

/// How much a body may hold beside its streamed texts.
public struct JSONStreamLimits: Sendable, Equatable {
    /// Bytes of a name, as it is written.
    public var nameBytes = 128
    /// Bytes of a value that is not streamed, as it is written.
    public var valueBytes = 16 * 1024
    /// Members of the object.
    public var members = 32
    /// Bytes of white space between two tokens.
    public var blankBytes = 64 * 1024

    /// Makes the usual limits.
    public init() {}
}
