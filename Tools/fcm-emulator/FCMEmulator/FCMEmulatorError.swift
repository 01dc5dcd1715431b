/// Why the emulator could not start.
public struct FCMEmulatorError: Error, CustomStringConvertible {
    /// What kind of thing went wrong.
    public enum Code: Sendable, Equatable {
        /// A listener could not be bound.
        case cannotListen
        /// The service-account key file cannot be read or written.
        case serviceAccount
        /// The certificate or its key cannot be read or written.
        case certificate
        /// It runs already, or it was stopped.
        case wrongState
    }

    /// What kind of thing went wrong.
    public let code: Code
    /// One line for the log, without secrets.
    public let message: String
    /// The error below, when there was one.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    public var description: String {
        underlying.map { "\(message) (\($0))" } ?? message
    }
}
