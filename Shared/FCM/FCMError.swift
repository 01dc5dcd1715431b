/// Says why a message was not built or an access token not had, without secrets or texts of a push.
public struct FCMError: Error, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The key file, a URL or another setting cannot be used.
        case configuration
        /// The content lacks a parameter, or does not fit the limits of a message.
        case invalidMessage
        /// Google refused the service account: deleted key, wrong clock, missing right. Repeating does not help.
        case credentialsRefused
        /// There is no access token now; later there may be one.
        case tokenUnavailable
    }

    /// What kind of failure it is.
    public let code: Code
    /// A sentence for the log.
    public let message: String
    /// What caused it, if something else did.
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
