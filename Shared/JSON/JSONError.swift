/// The fault of a text that is not valid JSON, or of a string that is not valid base64.
///
/// The message is for the log, and for the sender of the text: it names positions and limits, never contents of the text.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of fault that callers may distinguish.
    public enum Code: String, Sendable, Equatable, CaseIterable {
        /// Not JSON (RFC 8259), or not an object where one is read as it arrives.
        case malformed
        /// An object has the same name twice.
        case duplicateName
        /// The value of a streamed member is not a string.
        case notString
        /// A limit of ``JSONLimits``, or of an object that is read as it arrives, is exceeded.
        case limitExceeded
        /// The body ended before the object did.
        case truncated
        /// A streamed string has an escaped character that is not ASCII.
        case notASCII
        /// A string is not base64 (RFC 4648), or not a data URI of it.
        case badBase64
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence; for a malformed text in the words of Google's front end.
    public let message: String
    /// The offset of the fault in the bytes that were read; nil where it would not help.
    public let offset: Int?

    package init(_ code: Code, _ message: String, at offset: Int? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    /// The code, the message and the position, for logs.
    public var description: String { "\(code.rawValue): \(message)" + (offset.map { " At byte \($0)." } ?? "") }
}
