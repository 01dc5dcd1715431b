import PostgresClient

/// What becomes of messages that fail: how often and when they are tried again, and when they are given up.
///
/// Failures and crashes have budgets of their own: a handler that throws has looked at the message and may well succeed later,
/// but a message that kills its process takes everything else in that process with it.
public struct RetryPolicy: Sendable {
    /// How often a handler may fail with a message before it becomes a dead letter.
    public var maxFailures = 16
    /// How many consumers may die with a message in hand, or be taken for dead, before it becomes a dead letter. After the
    /// second it is tried while its process does nothing else, so that only its own crashes are held against it from then on.
    public var maxCrashes = 3
    /// The longest first delay; the longest delay doubles with each failure.
    public var baseDelay: Duration = .seconds(1)
    /// The longest delay of all.
    public var maxDelay: Duration = .seconds(15 * 60)
    /// The longest delay when the handler could do nothing because the database was away, which does not count as a failure.
    public var outageDelay: Duration = .seconds(5)

    /// Makes a policy with the defaults: given up after about 45 minutes on average, 90 at most.
    public init() {}

    /// The delay after so many failures: anything up to the longest ("full jitter"), so that messages which failed together
    /// do not come back together.
    func delay(afterFailures failures: Int, random: Double = .random(in: 0...1)) -> Duration {
        min(baseDelay * (1 << min(max(failures - 1, 0), 24)), maxDelay) * random
    }

    /// Whether a handler failed because what it depends on is away, so that the message itself says nothing. A statement that
    /// took too long, a deadlock or a lock is no such thing: they may be the message's own doing.
    static func isOutage(_ error: any Error) -> Bool {
        switch error {
        case let error as PostgresError:
            switch error.code {
            case .connectionLost, .queueFull, .closed: true
            case .sqlState(let state): ["08", "53", "57P"].contains(where: state.hasPrefix)
            default: false
            }
        case let error as EventBusError: error.code == .unavailable
        default: false
        }
    }

    /// Whether a batch failed in a way that any one of its messages may have caused, and the others are not to blame for.
    static func isAmbiguousInBatch(_ error: any Error) -> Bool {
        if error is CancellationError { return true }
        guard let error = error as? PostgresError else { return false }
        return error.code == .timeout || error.code == .cancelled
    }
}
