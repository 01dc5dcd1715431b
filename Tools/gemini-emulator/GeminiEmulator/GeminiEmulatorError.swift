/// An error that keeps the emulator from starting.
public struct GeminiEmulatorError: Error, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable, Equatable {
        /// The listener could not be bound.
        case cannotListen
        /// The emulator runs already, or was stopped.
        case wrongState
    }

    /// The kind of failure.
    public let code: Code
    /// One line for the log.
    public let message: String
    /// The error below, when there was one.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The message and the error below, for logs.
    public var description: String { underlying.map { "\(message) (\($0))" } ?? message }
}
