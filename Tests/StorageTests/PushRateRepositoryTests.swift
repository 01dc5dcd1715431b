import FoundationEssentials
import PostgresClient
import Storage
import Testing
import TestSupport

@Suite struct PushRateRepositoryTests {
    private let one = UUID()

    @Test func `many who take at once get no more than the bucket has`() async throws {
        try await withStorage { client in
            let repository = PushRateRepository(client)
            let taken = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<16 { group.addTask { try await repository.take(10, installID: one).count } }
                return try await group.reduce(0, +)
            }
            // What flows in meanwhile comes on top, if this takes seconds.
            #expect((60...90).contains(taken))
            let more = try await repository.take(1000, installID: one)
            #expect(more.wait > .seconds(60))
            #expect(try await repository.take(10, installID: UUID()) == PushRateGrant(count: 10, wait: .zero))
        }
    }

    @Test func `a bucket fills up with time, and the hour's is the larger and slower one`() async throws {
        try await withStorage { client in
            let repository = PushRateRepository(client)
            #expect(try await repository.take(60, installID: one).count == 60)
            try await client.execute("UPDATE push_install_rates SET filled_at = filled_at - interval '30 seconds'")
            #expect((50...59).contains(try await repository.take(60, installID: one).count))
            try await client.execute("UPDATE push_install_rates SET minute_tokens = 60, hour_tokens = 0, filled_at = clock_timestamp()")
            let grant = try await repository.take(10, installID: one)
            #expect(grant.count <= 5 && grant.wait > .seconds(5), "the hour is used up")
        }
    }

    @Test func `rows with full buckets go`() async throws {
        try await withStorage { client in
            let repository = PushRateRepository(client)
            _ = try await repository.take(10, installID: one)
            #expect(try await repository.deleteOld(limit: 10) == 0)
            try await client.execute("UPDATE push_install_rates SET filled_at = now() - interval '61 minutes'")
            #expect(try await repository.deleteOld(limit: 10) == 1)
        }
    }
}
