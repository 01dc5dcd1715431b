/// Thrown by a handler that knows when it makes sense to try again, such as when a service it calls asked to be left alone.
///
/// The message is delivered again after the delay. That is no failure of the message, so it does not count towards
/// ``RetryPolicy/maxFailures``: whoever throws this has to bound it, by a deadline of its own for instance.
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
