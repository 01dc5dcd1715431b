/// An error that keeps the emulator from starting.
public struct EmulatorError: Error, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Equatable {
        /// A listener could not be bound.
        case cannotListen
        /// The service-account key file cannot be read or written.
        case serviceAccount
        /// The certificate or its key cannot be read or written.
        case certificate
        /// The emulator runs already, or was stopped.
        case wrongState
    }

    /// The kind of failure.
    public let code: Code
    /// One line for the log, without secrets.
    public let message: String
    /// The error below, when there was one.
    public let underlying: (any Error)?

    package init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The message and the error below.
    public var description: String {
        underlying.map { "\(message) (\($0))" } ?? message
    }
}
