import CommandLineSupport
import Testing

@testable import HeliographLoad

struct ArrivalsTests {
    private func arrivals(
        _ pattern: Arrivals.Pattern = .poisson, _ perSecond: Double = 10, mix: [LoadKind: Double] = [.signIn: 1], seed: UInt64 = 7,
        seconds: Double = 1_000
    ) -> [Arrival] {
        Array(Arrivals(pattern, perSecond: perSecond, mix: LoadMix(weights: mix), seed: seed, upTo: .seconds(seconds)))
    }

    @Test func `constant arrivals are evenly spread, and none is at the end`() {
        let offsets = arrivals(.constant, 4, seconds: 2).map(\.offset)
        #expect(offsets == (0..<8).map { .milliseconds(250 * $0) })
    }

    @Test func `constant arrivals do not drift in a day`() {
        let last = arrivals(.constant, 3, seconds: 86_400).last
        #expect(last?.number == 3 * 86_400 - 1)
    }

    @Test func `poisson arrivals have the rate and exponential gaps`() {
        let offsets = arrivals().map(\.offset.seconds)
        // 10,000 are expected; four times their standard deviation is 400.
        #expect((9_600...10_400).contains(offsets.count))
        let gaps = zip(offsets, offsets.dropFirst()).map { $1 - $0 }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
        // Of exponential times, the standard deviation is the mean.
        #expect((0.9...1.1).contains(variance.squareRoot() / mean))
        #expect(gaps.allSatisfy { $0 >= 0 })
    }

    @Test func `the same seed gives the same arrivals, another seed different ones`() {
        #expect(arrivals(seed: 1) == arrivals(seed: 1))
        #expect(arrivals(seed: 1) != arrivals(seed: 2))
    }

    @Test func `another mix leaves the times unchanged`() {
        #expect(arrivals(mix: [.image: 1, .upload: 3]).map(\.offset) == arrivals(mix: [.signIn: 1]).map(\.offset))
    }

    @Test func `kinds come in the proportion of their weights`() {
        let all = arrivals(mix: [.signIn: 6, .image: 3, .upload: 1, .signUp: 0])
        func share(_ kind: LoadKind) -> Double { Double(all.count { $0.kind == kind }) / Double(all.count) }
        #expect((0.57...0.63).contains(share(.signIn)) && (0.27...0.33).contains(share(.image)))
        #expect((0.08...0.12).contains(share(.upload)) && share(.signUp) == 0)
    }
}
