internal import AsyncPrimitives

/// The time of the next attempt to connect, in nanoseconds of the monotonic clock.
struct ConnectBackoff {
    private let backoff: Backoff
    private var failures = 0
    /// The time before which no attempt may start.
    private(set) var nextAttempt: UInt64 = 0

    init(_ configuration: PostgresConfiguration) {
        backoff = Backoff(min: max(.milliseconds(1), configuration.reconnectDelay), max: configuration.maxReconnectDelay)
    }

    mutating func succeeded() {
        failures = 0
        nextAttempt = 0
    }

    mutating func failed(now: UInt64) {
        failures += 1
        nextAttempt = now + backoff.delay(afterFailures: failures).clampedNanoseconds
    }
}
