/// Computes the pauses between attempts to connect.
struct Backoff: Sendable {
    var min: Duration
    var max: Duration

    /// Returns the pause after the given number of failures: doubled with each failure, and shortened by up to a half at random so
    /// that clients that lost the same server do not reconnect at the same time.
    func pause(afterFailures failures: Int, random: Double = .random(in: 0...1)) -> Duration {
        let full = Swift.min(min * (1 << Swift.min(failures - 1, 20)), max)
        return full * (0.5 + random / 2)
    }
}
