/// A message that cannot be written or read, and why.
public struct WireFormatError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, for decisions in code.
    public enum Code: Sendable, Equatable {
        /// A field of the envelope is absent.
        case missingField(String)
        /// A field of the envelope is there twice or has a value that is not allowed.
        case invalidField(String)
        /// The body is longer than ``EnvelopeLimits/bodyBytesMax``.
        case bodyTooLarge
        /// The body is not JSON or does not fit the schema of its type and version.
        case malformedBody
        /// The message is of another type than the one asked for.
        case typeMismatch
        /// The message has a schema version that this build does not know.
        case unsupportedVersion
    }

    public let code: Code

    /// One sentence for the log; it names fields, never their values.
    public let message: String

    public let underlying: (any Error)?

    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    public var description: String { "WireFormatError(\(code)): \(message)" }
}
