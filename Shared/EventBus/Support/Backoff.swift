/// The delays between attempts that fail.
struct Backoff: Sendable {
    var min: Duration
    var max: Duration

    /// Returns the delay after a number of failures in a row: doubled with each, and shortened at random by up to a half, so that
    /// processes which lost the same server do not reconnect at the same time.
    func delay(afterFailures failures: Int, random: Double = .random(in: 0...1)) -> Duration {
        guard failures > 0 else { return .zero }
        let full = Swift.min(min * (1 << Swift.min(failures - 1, 16)), max)
        return full * (1 - random / 2)
    }
}

extension Duration {
    /// The duration, up to 30 % longer or shorter, so that many processes do not do the same at the same time.
    func jittered(random: Double = .random(in: -1...1)) -> Duration {
        self * (1 + 0.3 * random)
    }
}
