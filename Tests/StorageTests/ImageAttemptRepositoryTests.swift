import FoundationEssentials
import Pictures
import PostgresClient
import TestSupport
import Testing
import WireFormat

struct ImageAttemptRepositoryTests {
    private static let limits = ImageAttemptLimits()

    @Test(.storage) func `attempts are numbered, and limited to three that may have cost something`() async throws {
        let user = try await client.user()
        let (attempts, worker) = (ImageAttemptRepository(client), UUID())
        let id = try await jobs.insert(.make(user)).id
        #expect(try await attempts.begin(jobID: id, worker: worker, generator: "local") == nil, "no worker holds the job yet")
        try await client.begin(id, worker)
        let numbers = try await race(8) { _ in try await attempts.begin(jobID: id, worker: worker, generator: "local") }
        #expect(Set(numbers.compactMap { $0 }) == [1, 2, 3])
        #expect(numbers.count { $0 != nil } == 3)
        #expect(try await attempts.list(jobID: id).map(\.number) == [1, 2, 3])
        #expect(try await attempts.begin(jobID: id, worker: UUID(), generator: "local") == nil, "another worker holds the job")
    }

    @Test(.storage) func `a free call allows one more`() async throws {
        let user = try await client.user()
        let (attempts, worker) = (ImageAttemptRepository(client), UUID())
        let id = try await jobs.insert(.make(user)).id
        try await client.begin(id, worker)
        for number in 1...Self.limits.maxAttempts {
            #expect(try await attempts.begin(jobID: id, worker: worker, generator: "g") == number)
            let ends = try await race(4) { _ in
                try await attempts.finish(jobID: id, number: number, outcome: .free)
            }
            #expect(ends.count { $0 } == 1)
        }
        #expect(try await attempts.begin(jobID: id, worker: worker, generator: "g") == nil, "free calls are limited too")
    }

    @Test(.storage) func `the outcome of a call is recorded once and read back`() async throws {
        let user = try await client.user()
        let (attempts, worker) = (ImageAttemptRepository(client), UUID())
        let id = try await jobs.insert(.make(user)).id
        try await client.begin(id, worker)
        _ = try await attempts.begin(jobID: id, worker: worker, generator: "g")
        _ = try await attempts.begin(jobID: id, worker: worker, generator: "g")
        let generated = ImageAttempt.Outcome.generated(rawKey: "images/x/raw-2", modelUsed: "m-1", durationMs: 1234)
        #expect(try await attempts.finish(jobID: id, number: 2, outcome: generated))
        #expect(try await !attempts.finish(jobID: id, number: 2, outcome: .noImage))
        #expect(try await attempts.list(jobID: id).map(\.outcome) == [nil, generated])
        #expect(try await !attempts.finish(jobID: id, number: 9, outcome: .noImage))
    }

    @Test(.storage) func `no call is allowed for an ended or deleted job`() async throws {
        let user = try await client.user()
        let (attempts, worker) = (ImageAttemptRepository(client), UUID())
        for isDeleted in [true, false] {
            let id = try await jobs.insert(.make(user)).id
            try await client.begin(id, worker)
            if isDeleted { _ = try await jobs.delete(id: id, userID: user) } else { try await jobs.finish(id) }
            #expect(try await attempts.begin(jobID: id, worker: worker, generator: "g") == nil)
        }
    }
}

extension PostgresClient {
    /// Gives a worker a lease long enough for a test, because nothing renews it.
    fileprivate func begin(_ id: UUID, _ worker: UUID) async throws {
        _ = try await ImageJobRepository(self).begin(id: id, worker: worker)
        try await execute("UPDATE image_jobs SET lease_until = now() + interval '10 minutes' WHERE id = \(id)")
    }
}
