import PostgresClient
import Push
import TestSupport
import Testing

struct PushQuotaRepositoryTests {
    private let limits = PushQuotaLimits(perSecond: 8000)

    /// Moves the last use into the past.
    private func age(_ client: PostgresClient, seconds: Double) async throws {
        try await client.execute(
            """
            UPDATE push_quota SET refilled_at = refilled_at - make_interval(secs => \(seconds)),
                bulk_since = bulk_since - make_interval(secs => \(seconds)), bulk_at = bulk_at - make_interval(secs => \(seconds))
            """)
    }

    @Test(.storage) func `a full bucket holds a second's pushes and no more`() async throws {
        let begin = ContinuousClock.now
        #expect(try await quota.take(7000, project: "p", isBulk: false, limits: limits) == 7000)
        let rest = try await quota.take(9000, project: "p", isBulk: false, limits: limits)
        // The bucket has refilled only for the time that this took: completely after some 0.9 s.
        let back = Int(8000 * ((ContinuousClock.now - begin) / .seconds(1)))
        #expect((1000...min(8000, 1001 + back)).contains(rest))
        try await age(client, seconds: 3600)
        #expect(try await quota.take(9000, project: "p", isBulk: false, limits: limits) == 8000)
    }

    @Test(.storage) func `the bulk lane starts at a sixtieth of its rate and has its full rate after a minute`() async throws {
        let begin = ContinuousClock.now
        #expect(try await quota.take(8000, project: "p", isBulk: true, limits: limits) == 133)
        for _ in 0..<30 {
            try await age(client, seconds: 1)
            _ = try await quota.take(1, project: "p", isBulk: true, limits: limits)
        }
        let half = try await quota.take(8000, project: "p", isBulk: true, limits: limits)
        // Each second that this took adds 131, a sixtieth of the way from 133 to 8000.
        let most = 4300 + 131 * Int((ContinuousClock.now - begin) / .seconds(1))
        #expect((3900...most).contains(half))
        for _ in 0..<30 {
            try await age(client, seconds: 1)
            _ = try await quota.take(1, project: "p", isBulk: true, limits: limits)
        }
        try await age(client, seconds: 1)
        #expect(try await quota.take(8000, project: "p", isBulk: true, limits: limits) == 4800)
    }

    @Test(.storage) func `the bulk lane leaves two fifths to the other lanes`() async throws {
        let steep = PushQuotaLimits(perSecond: 8000, bulkRamp: .zero)
        let bulk = try await quota.take(8000, project: "p", isBulk: true, limits: steep)
        let other = try await quota.take(3200, project: "p", isBulk: false, limits: steep)
        #expect(bulk == 4800 && other == 3200)
    }

    @Test(.storage) func `all senders of a project share its bucket, and projects share none`() async throws {
        let slow = PushQuotaLimits(perSecond: 100)
        let begin = ContinuousClock.now
        let granted = try await race(20) { _ in
            try await PushQuotaRepository(client).take(50, project: "p", isBulk: false, limits: slow)
        }
        // The bucket, and its refill in the seconds that this may take on a busy machine.
        let most = 101 + Int(100 * ((ContinuousClock.now - begin) / .seconds(1)))
        #expect((100...most).contains(granted.reduce(0, +)))
        #expect(try await PushQuotaRepository(client).take(50, project: "q", isBulk: false, limits: slow) == 50)
    }
}
