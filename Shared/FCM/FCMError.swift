/// The reason why a message was not built or an access token not obtained, without secrets or texts of a push.
public struct FCMError: Error, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The key file, a URL or another setting is invalid.
        case configuration
        /// A parameter of the content is missing, or the content does not fit the limits of a message.
        case invalidMessage
        /// Google refused the service account: deleted key, wrong clock, missing permission. A retry does not help.
        case credentialsRefused
        /// No access token is available now; a later request may succeed.
        case tokenUnavailable
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for the log.
    public let message: String
    /// The error that caused this one, if any.
    public let underlying: (any Error)?

    /// Makes an error from its kind and a sentence for the log.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The code and the message, for logs.
    public var description: String {
        "\(code.rawValue): \(message)" + (underlying.map { " (\($0))" } ?? "")
    }
}
