/// Computes the pause before the next attempt to connect: doubled with each failure, and jittered so that processes spread out. Times
/// are in nanoseconds.
struct ConnectBackoff {
    private let firstDelay: UInt64
    private let maxDelay: UInt64
    private var failures: UInt64 = 0
    /// The time before which no attempt may start.
    private(set) var nextAttempt: UInt64 = 0

    init(_ configuration: PostgresConfiguration) {
        firstDelay = max(1_000_000, configuration.reconnectDelay.clampedNanoseconds)
        maxDelay = max(firstDelay, configuration.maxReconnectDelay.clampedNanoseconds)
    }

    mutating func succeeded() {
        failures = 0
        nextAttempt = 0
    }

    mutating func failed(now: UInt64) {
        let delay = min(maxDelay, firstDelay << min(failures, 20))
        failures += 1
        nextAttempt = now + delay / 2 + UInt64.random(in: 0...delay / 2)
    }
}
