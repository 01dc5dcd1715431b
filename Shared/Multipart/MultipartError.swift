/// The fault of a body that is not valid `multipart/form-data`.
///
/// The message is for the log: it names positions and limits, never the bytes of the body.
public struct MultipartError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of fault that callers may distinguish.
    public enum Code: String, Sendable, Equatable, CaseIterable {
        /// The content type is not `multipart/form-data`.
        case notMultipart
        /// The content type has no boundary, or one that RFC 2046 does not allow.
        case badBoundary
        /// The boundary does not occur where the body begins, or at all: the body was made with another one.
        case missingBoundary
        /// A boundary is followed by something other than padding and a line end, or by `--`.
        case malformedDelimiter
        /// A header block that is not made of header lines, or a part without `Content-Disposition: form-data`.
        case malformedHeader
        /// A part whose disposition has no field name.
        case missingName
        /// A part in a transfer encoding that RFC 7578 deprecates (base64, quoted-printable).
        case unsupportedTransferEncoding
        /// A limit of ``MultipartLimits`` is exceeded.
        case limitExceeded
        /// The body ended before the closing boundary.
        case truncated
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence for the log.
    public let message: String
    /// The error that caused this one, if there was one.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        self.underlying = nil
    }

    /// Two errors are equal when their code and message are equal.
    public static func == (left: MultipartError, right: MultipartError) -> Bool {
        left.code == right.code && left.message == right.message
    }

    /// The code and the message, for logs.
    public var description: String { "\(code.rawValue): \(message)" }
}
