import Foundation
import GeminiEmulator
import Testing

@testable import ImageGenerators

/// Tests of the daily quota and of the circuit breaker that it opens.
@Suite struct QuotaBreakerTests {
    @Test func `an exhausted daily quota prevents calls until its reset`() async throws {
        try await GeminiFixture.with { fixture in
            fixture.emulator.add(GeminiBehaviour(.dailyQuota))
            let reset = QuotaBreaker.nextReset(after: fixture.clock.now)
            for _ in 0..<3 { #expect(await fixture.failure()?.code == .quotaExhausted(until: reset)) }
            #expect(fixture.emulator.calls.count == 1)
            #expect(fixture.emulator.paidCounts.isEmpty)

            fixture.clock.advance(seconds: reset.timeIntervalSince(fixture.clock.now))
            #expect(await fixture.failure() == nil)
        }
    }

    @Test func `a probe detects a raised quota and closes the breaker`() async throws {
        try await GeminiFixture.with { fixture in
            fixture.emulator.add(GeminiBehaviour(.dailyQuota, count: 2))
            #expect(await fixture.failure() != nil)
            fixture.clock.advance(seconds: 901)
            // The first is the probe, which is refused; the second is not even sent.
            #expect(await fixture.failure() != nil)
            #expect(await fixture.failure() != nil)
            #expect(fixture.emulator.calls.count == 2)
            fixture.clock.advance(seconds: 901)
            for _ in 0..<2 { #expect(await fixture.failure() == nil) }
        }
    }

    @Test func `a short-term rate limit does not open the breaker`() async throws {
        try await GeminiFixture.with { fixture in
            fixture.emulator.add(GeminiBehaviour(.rateLimited(retrySeconds: 5)))
            #expect(await fixture.failure() != nil)
            #expect(await fixture.failure() == nil)
        }
    }

    @Test(arguments: [
        ("2026-11-21T12:00:00Z", "2026-11-22T08:00:00Z"), ("2026-11-22T07:59:59Z", "2026-11-22T08:00:00Z"),
        ("2026-11-22T08:00:00Z", "2026-11-23T08:00:00Z"), ("2026-12-31T23:59:59Z", "2027-01-01T08:00:00Z"),
    ])
    func `a quota resets at midnight Pacific Standard Time`(now: String, reset: String) throws {
        let format = ISO8601DateFormatter()
        let now = try #require(format.date(from: now))
        #expect(QuotaBreaker.nextReset(after: now) == format.date(from: reset))
    }
}
