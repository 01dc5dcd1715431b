/// The reason why a message cannot be encoded or decoded.
public struct WireFormatError: Error, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: Sendable, Equatable {
        /// A field of the envelope is absent.
        case missingField(String)
        /// A field of the envelope is repeated or has an invalid value.
        case invalidField(String)
        /// The body is longer than ``EnvelopeLimits/maxBodyBytes``.
        case bodyTooLarge
        /// The body is not JSON or does not fit the schema of its type and version.
        case malformedBody
        /// The message is of another type than the requested one.
        case typeMismatch
        /// The message has a schema version that this build does not know.
        case unsupportedVersion
    }

    /// The kind of fault, for decisions in code.
    public let code: Code

    /// One sentence for the log; it names fields, never their values.
    public let message: String

    /// The error of the JSON parser that caused this one, if there was one.
    public let underlying: (any Error)?

    /// Creates an error; `message` is logged, so it must not hold any value of the message.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The code and the message, safe for logs; without ``underlying``.
    public var description: String { "WireFormatError(\(code)): \(message)" }
}
