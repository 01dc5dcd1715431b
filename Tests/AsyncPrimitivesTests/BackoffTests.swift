import AsyncPrimitives
import Testing

struct BackoffTests {
    @Test func `delays double with each failure up to the maximum`() {
        let backoff = Backoff(min: .milliseconds(50), max: .seconds(2))
        let expected: [Duration] = [50, 100, 200, 400, 800, 1600, 2000, 2000].map { .milliseconds($0) }
        #expect((1...8).map { backoff.delay(afterFailures: $0, random: 0) } == expected)
        #expect(backoff.delay(afterFailures: 0) == .zero)
        #expect(backoff.delay(afterFailures: 1_000_000, random: 0) == .seconds(2))
    }

    @Test(arguments: [(0.0, 100), (0.5, 50), (1.0, 0)])
    func `the random share of a delay is what it is shortened by at most`(share: Double, shortest: Int) {
        let backoff = Backoff(min: .milliseconds(100), max: .seconds(2), randomShare: share)
        #expect(backoff.delay(afterFailures: 1, random: 1) == .milliseconds(shortest))
        #expect(backoff.delay(afterFailures: 1, random: 0) == .milliseconds(100))
    }

    @Test func `a minimum above the maximum is the maximum`() {
        let backoff = Backoff(min: .seconds(3), max: .seconds(2), randomShare: 0)
        #expect(backoff.delay(afterFailures: 2) == .seconds(3))
    }
}
