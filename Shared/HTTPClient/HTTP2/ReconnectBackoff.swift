internal import AsyncPrimitives

/// The time of the next attempt to connect to an unreachable server.
struct ReconnectBackoff {
    /// The delays between attempts.
    static let backoff = Backoff(min: .milliseconds(50), max: .seconds(1), randomShare: 0.25)

    /// The time of the next attempt; nil means now.
    private(set) var earliest: ContinuousClock.Instant?
    private var failures = 0

    /// Records that the server cannot be reached, or that it closed a connection without answering any call.
    mutating func failed(now: ContinuousClock.Instant) {
        failures += 1
        earliest = now + Self.backoff.delay(afterFailures: failures)
    }

    /// Records that the server has answered, which resets the delay.
    mutating func succeeded() {
        earliest = nil
        failures = 0
    }

    func isDue(now: ContinuousClock.Instant) -> Bool { earliest.map { $0 <= now } ?? true }
}
