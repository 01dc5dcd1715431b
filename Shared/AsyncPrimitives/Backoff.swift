/// The delays between attempts that fail: doubled with each failure up to a maximum, and shortened at random, so that clients which lost
/// the same server do not all return at the same time.
public struct Backoff: Sendable {
    /// The delay after the first failure, before it is shortened.
    public let min: Duration
    /// The longest delay.
    public let max: Duration
    /// The share of a delay that is random, from 0 to 1.
    public let randomShare: Double

    /// Describes delays.
    ///
    /// - Parameter randomShare: 0.5 shortens a delay by up to a half; 1 is "full jitter"; 0 does not change it.
    public init(min: Duration, max: Duration, randomShare: Double = 0.5) {
        self.min = min
        self.max = Swift.max(min, max)
        self.randomShare = randomShare
    }

    /// Returns the delay after a number of failures in a row; zero without a failure.
    ///
    /// - Parameter random: 0 for the full delay, 1 for the shortest.
    public func delay(afterFailures failures: Int, random: Double = .random(in: 0...1)) -> Duration {
        guard failures > 0 else { return .zero }
        let full = Swift.min(min * (1 << Swift.min(failures - 1, 24)), max)
        return full * (1 - randomShare * random)
    }
}
