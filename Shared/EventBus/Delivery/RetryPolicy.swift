import AsyncPrimitives
import PostgresClient

/// Decides how often and when failed messages are retried, and when they become dead letters.
///
/// Failures and crashes have budgets of their own: a handler that throws has looked at the message and may well succeed later,
/// but a message that kills its process takes everything else in that process with it.
public struct RetryPolicy: Sendable {
    /// The failures of its handler after which a message becomes a dead letter.
    public var maxFailures = 16
    /// The crashes after which a message becomes a dead letter: consumers that died, or were taken for dead, while they held it. After
    /// the second it is handled in isolation, so that only crashes of its own count from then on.
    public var maxCrashes = 3
    /// The upper bound of the first delay; it doubles with each failure.
    public var baseDelay: Duration = .seconds(1)
    /// The upper bound of all delays.
    public var maxDelay: Duration = .seconds(15 * 60)
    /// The upper bound of the delay after an outage of a dependency, which does not count as a failure.
    public var outageDelay: Duration = .seconds(2)

    /// Makes a policy with the defaults: a dead letter after about 45 minutes on average, 90 at most.
    public init() {}

    /// Returns the delay after a number of failures: random up to the bound ("full jitter"), so that messages which failed together
    /// are not retried together.
    func delay(afterFailures failures: Int, random: Double = .random(in: 0...1)) -> Duration {
        Backoff(min: baseDelay, max: maxDelay, randomShare: 1).delay(afterFailures: max(failures, 1), random: random)
    }

    /// Whether any one message of a failed batch may be the cause, so that its messages are retried individually.
    ///
    /// An outage that the server reports, or a lost connection, may have been caused by one message: by a statement that its role may not
    /// run, or at which the server's process ended. Without a connection no message was the cause.
    static func isAmbiguousInBatch(_ error: any Error) -> Bool {
        if error is CancellationError { return true }
        guard let error = error as? PostgresError else { return false }
        switch error.code {
        case .timeout, .cancelled, .connectionLost: return true
        case .sqlState: return error.isUnavailability
        default: return false
        }
    }
}
