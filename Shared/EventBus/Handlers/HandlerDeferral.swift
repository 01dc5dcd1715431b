/// Thrown by a handler that knows when to retry, such as after a `Retry-After` of a service that it calls.
///
/// The message is delivered again after the delay. That is no failure of the message, so it does not count towards
/// ``RetryPolicy/maxFailures``: the handler has to bound it, for instance by a deadline.
public struct HandlerDeferral: Error, CustomStringConvertible {
    /// The time until the next delivery.
    public let delay: Duration
    /// One sentence for the log.
    public let reason: String

    /// Asks for another delivery after `delay`.
    public init(delay: Duration, reason: String) {
        self.delay = delay
        self.reason = reason
    }

    /// The reason and the delay.
    public var description: String { "\(reason); again after \(delay)" }
}
