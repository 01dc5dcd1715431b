public import AsyncPrimitives

/// An error of the event bus.
public struct EventBusError: DependencyFailure, Sendable, CustomStringConvertible {
    /// The kind of an error, for decisions in code.
    public enum Code: Sendable, Hashable {
        /// The server cannot be reached, or cannot serve the request now; the same request may succeed later.
        case unavailable
        /// The stream or the consumer group does not exist (any more).
        case groupMissing
        /// The task was cancelled.
        case cancelled
        /// The client was shut down, so further calls fail.
        case shutDown
        /// The server refused the request, and will refuse it again.
        case refused
        /// A consumer runs, but makes no progress any more.
        case stalled
        /// The registrations of a consumer contradict each other.
        case invalidConfiguration
    }

    /// The kind of the error, for decisions in code.
    public let code: Code

    /// One sentence for the log, without any content of messages.
    public let message: String

    /// The error that caused this one, mostly a `RedisError`; nil when the bus itself found the fault.
    public let underlying: (any Error)?

    /// Creates an error; `message` is logged, so it must not hold any content of messages.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// Whether the server cannot be reached, or cannot serve the request now.
    public var isUnavailability: Bool { code == .unavailable }

    /// The code, the message and the cause, for the log.
    public var description: String {
        underlying.map { "EventBusError(\(code)): \(message) (\($0))" } ?? "EventBusError(\(code)): \(message)"
    }
}
