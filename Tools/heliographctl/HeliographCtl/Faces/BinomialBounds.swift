internal import Foundation

/// The exact confidence bounds of a rate (Clopper and Pearson, Biometrika 26, 1934).
struct BinomialBounds: Equatable {
    /// The probability with which a rate is within its bounds.
    static let confidence = 0.95

    let lower: Double
    let upper: Double

    /// Creates the bounds of the rate at which `count` of `trials` happened; 0 to 1 without trials.
    init(_ count: Int, of trials: Int) {
        precondition(0...trials ~= count, "a count is at most the number of trials")
        let tail = (1 - Self.confidence) / 2
        // With the rate, the probability of this number or more grows, and the probability of this number or fewer falls.
        lower = count == 0 ? 0 : Self.rate { 1 - Self.probability(ofAtMost: count - 1, trials, $0) < tail }
        upper = count == trials ? 1 : Self.rate { Self.probability(ofAtMost: count, trials, $0) > tail }
    }

    /// Returns the largest rate for which the condition holds, by bisection; it holds from 0 to that rate.
    private static func rate(_ holds: (Double) -> Bool) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if holds(middle) { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    private static func probability(ofAtMost count: Int, _ trials: Int, _ rate: Double) -> Double {
        guard rate > 0 else { return 1 }
        guard rate < 1 else { return count >= trials ? 1 : 0 }
        // The logarithm of the number of ways, from that for one success fewer: factorials are too large for a number.
        var (ways, sum) = (0.0, 0.0)
        for successes in 0...count {
            if successes > 0 { ways += log(Double(trials - successes + 1)) - log(Double(successes)) }
            sum += exp(ways + Double(successes) * log(rate) + Double(trials - successes) * log1p(-rate))
        }
        return min(1, sum)
    }
}
