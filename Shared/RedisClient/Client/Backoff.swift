/// The pauses between attempts to connect.
struct Backoff: Sendable {
    var min: Duration
    var max: Duration

    /// The pause after the given number of failures: doubled each time, and shortened by up to a half at random so that
    /// clients that lost the same server do not come back together.
    func pause(afterFailures failures: Int, random: Double = .random(in: 0...1)) -> Duration {
        let full = Swift.min(min * (1 << Swift.min(failures - 1, 20)), max)
        return full * (0.5 + random / 2)
    }
}
