/// The pause before the next attempt to connect: doubled with each failure, and blurred so that processes spread out.
struct ConnectBackoff {
    private let first: UInt64
    private let longest: UInt64
    private var failures: UInt64 = 0
    /// No attempt before this time.
    private(set) var nextAttempt: UInt64 = 0

    init(_ configuration: PostgresConfiguration) {
        first = max(1_000_000, configuration.reconnectDelay.clampedNanoseconds)
        longest = max(first, configuration.maxReconnectDelay.clampedNanoseconds)
    }

    mutating func succeeded() {
        failures = 0
        nextAttempt = 0
    }

    mutating func failed(now: UInt64) {
        let delay = min(longest, first << min(failures, 20))
        failures += 1
        nextAttempt = now + delay / 2 + UInt64.random(in: 0...delay / 2)
    }
}
