import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing

@Suite struct PushRateRepositoryTests {
    private let one = UUID()

    /// The refill of a bucket with this hourly rate since the beginning of a test.
    private func flow(since begin: ContinuousClock.Instant, hourly: Double) -> Int {
        Int((hourly / 3600 * ((ContinuousClock.now - begin) / .seconds(1))).rounded(.up))
    }

    @Test(.storage) func `concurrent takes get no more than the bucket has`() async throws {
        let repository = PushRateRepository(client)
        let begin = ContinuousClock.now
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 { group.addTask { try await repository.take(10, installID: one).count } }
            return try await group.reduce(0, +)
        }
        // Adds the refill in the meantime, if this takes seconds.
        #expect((60...61 + flow(since: begin, hourly: 6000)).contains(taken))
        let more = try await repository.take(1000, installID: one)
        #expect(more.wait > .seconds(60))
        #expect(try await repository.take(10, installID: UUID()) == PushRateGrant(count: 10, wait: .zero))
    }

    @Test(.storage) func `a bucket refills with time, and that of the hour is larger and slower`() async throws {
        let repository = PushRateRepository(client)
        var begin = ContinuousClock.now
        #expect(try await repository.take(60, installID: one).count == 60)
        try await client.execute("UPDATE push_install_rates SET filled_at = filled_at - interval '30 seconds'")
        let half = try await repository.take(60, installID: one).count
        #expect((50...min(60, 51 + flow(since: begin, hourly: 6000))).contains(half))
        begin = .now
        try await client.execute("UPDATE push_install_rates SET minute_tokens = 60, hour_tokens = 0, filled_at = clock_timestamp()")
        let grant = try await repository.take(10, installID: one)
        #expect(grant.count <= 1 + flow(since: begin, hourly: 2000), "the hour is used up")
        #expect(grant.count == 10 || grant.wait > .zero)
    }

    @Test(.storage) func `rows with full buckets are deleted`() async throws {
        let repository = PushRateRepository(client)
        _ = try await repository.take(10, installID: one)
        #expect(try await repository.deleteOld(limit: 10) == 0)
        try await client.execute("UPDATE push_install_rates SET filled_at = now() - interval '61 minutes'")
        #expect(try await repository.deleteOld(limit: 10) == 1)
    }
}
