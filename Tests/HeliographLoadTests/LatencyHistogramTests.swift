import CommandLineSupport
import TestSupport
import Testing

@testable import HeliographLoad

struct LatencyHistogramTests {
    /// Times from a microsecond to an hour, with equal shares of each order of magnitude.
    private func times(_ count: Int, seed: UInt64) -> [Duration] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            let power = UInt64.random(in: 0..<32, using: &generator)
            return .microseconds(Int64(UInt64.random(in: 0...(1 << power), using: &generator)))
        }
    }

    @Test(arguments: UInt64(0)..<10)
    func `a quantile is never below the true one, and above it by less than the stated error`(seed: UInt64) throws {
        let times = times(1 + Int(seed) * 300, seed: seed)
        var histogram = LatencyHistogram()
        times.forEach { histogram.record($0) }
        let sorted = times.sorted()
        for share in [0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1] {
            let rank = max(1, Int((share * Double(times.count) - 1e-9).rounded(.up)))
            let exact = sorted[rank - 1]
            let found = try #require(histogram.quantile(share))
            #expect(found >= exact && found.seconds <= exact.seconds * (1 + 1 / 128) + 1e-12, "\(share): \(exact)")
        }
        #expect(histogram.max == sorted.last)
    }

    @Test func `adding a histogram gives the counts of both`() {
        let (first, second) = (times(500, seed: 1), times(700, seed: 2))
        var (left, right, both) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
        first.forEach { left.record($0) }
        second.forEach { right.record($0) }
        (first + second).forEach { both.record($0) }
        left.add(right)
        #expect(left == both)
    }

    @Test func `an empty histogram has no quantile, and too long a time counts as the longest one`() {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil && histogram.mean == nil)
        histogram.record(.seconds(1_000_000_000))
        histogram.record(.seconds(-1))
        #expect(histogram.max > .seconds(100_000) && histogram.quantile(0.5) == .zero)
    }
}
