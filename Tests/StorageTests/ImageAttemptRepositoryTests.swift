import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

struct ImageAttemptRepositoryTests {
    private static let limits = ImageAttemptLimits()

    @Test func `attempts are numbered, and end with the third that may have cost something`() async throws {
        try await withImageJobs { jobs, user, client in
            let (attempts, worker) = (ImageAttemptRepository(client), UUID())
            let id = try await jobs.insert(.make(user)).id
            #expect(try await attempts.begin(jobID: id, worker: worker, generator: "local") == nil, "nobody works on it yet")
            try await client.begin(id, worker)
            let numbers = try await race(8) { _ in try await attempts.begin(jobID: id, worker: worker, generator: "local") }
            #expect(Set(numbers.compactMap { $0 }) == [1, 2, 3])
            #expect(numbers.count { $0 != nil } == 3)
            #expect(try await attempts.list(jobID: id).map(\.number) == [1, 2, 3])
            #expect(try await attempts.begin(jobID: id, worker: UUID(), generator: "local") == nil, "it is another worker's")
        }
    }

    @Test func `a call that cost nothing makes room for another, once`() async throws {
        try await withImageJobs { jobs, user, client in
            let (attempts, worker) = (ImageAttemptRepository(client), UUID())
            let id = try await jobs.insert(.make(user)).id
            try await client.begin(id, worker)
            for number in 1...Self.limits.totalMax {
                #expect(try await attempts.begin(jobID: id, worker: worker, generator: "g") == number)
                let ends = try await race(4) { _ in
                    try await attempts.finish(jobID: id, number: number, outcome: .free)
                }
                #expect(ends.count { $0 } == 1)
            }
            #expect(try await attempts.begin(jobID: id, worker: worker, generator: "g") == nil, "also what costs nothing ends")
        }
    }

    @Test func `what a call gave is noted once and found again`() async throws {
        try await withImageJobs { jobs, user, client in
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
    }

    @Test func `nothing is called for a job that has ended or was deleted`() async throws {
        try await withImageJobs { jobs, user, client in
            let (attempts, worker) = (ImageAttemptRepository(client), UUID())
            for isDeleted in [true, false] {
                let id = try await jobs.insert(.make(user)).id
                try await client.begin(id, worker)
                if isDeleted { _ = try await jobs.delete(id: id, userID: user) } else { try await jobs.finish(id) }
                #expect(try await attempts.begin(jobID: id, worker: worker, generator: "g") == nil)
            }
        }
    }
}

extension PostgresClient {
    /// Has a worker hold a job for as long as a test may take: nobody keeps its lease up.
    fileprivate func begin(_ id: UUID, _ worker: UUID) async throws {
        _ = try await ImageJobRepository(self).begin(id: id, worker: worker)
        try await execute("UPDATE image_jobs SET lease_until = now() + interval '10 minutes' WHERE id = \(id)")
    }
}
