/// The growing, jittered delay between attempts to connect to an unreachable server.
struct ReconnectBackoff {
    /// The delay after the first failure.
    static let minDelay: Duration = .milliseconds(50)
    /// The longest delay.
    static let maxDelay: Duration = .seconds(1)

    /// The time of the next attempt; nil means now.
    private(set) var earliest: ContinuousClock.Instant?
    private var delay = minDelay

    /// Records that the server cannot be reached, or that it closed a connection without answering any call.
    mutating func failed(now: ContinuousClock.Instant) {
        earliest = now + delay * Double.random(in: 0.75...1)
        delay = min(delay * 2, Self.maxDelay)
    }

    /// Records that the server has answered, which resets the delay.
    mutating func succeeded() {
        earliest = nil
        delay = Self.minDelay
    }

    func isDue(now: ContinuousClock.Instant) -> Bool { earliest.map { $0 <= now } ?? true }
}
