import ImageGenerators
import Pictures
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import ImageWorker

/// Tests of the turns of an account's jobs, and of the limits of paid calls in a day.
struct TurnTests {
    @Test func `the end of a job is the turn of one that waits, whether it has a picture or not`() async throws {
        let generator = ScriptedGenerator(.picture, .fail(.contentBlocked), .picture)
        try await WorkerFixture.with(generator) { worker in
            var ids = [try await worker.submit()]
            for _ in 0..<2 { ids.append(try await worker.submit(awaitsTurn: true)) }
            try await worker.running {
                var ended: [ImageJob] = []
                for id in ids { ended.append(try await worker.ended(id)) }
                // Which of the two waiting ones is made first is open: the sweeper fills free places, too.
                #expect(ended.count { $0.status == .completed } == 2 && ended.count { $0.status == .failed } == 1)
            }
        }
    }

    @Test func `bulk jobs are made`() async throws {
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator) { worker in
            let id = try await worker.submit(lane: .bulk)
            try await worker.running {
                let job = try await worker.ended(id)
                #expect(job.status == .completed)
            }
        }
    }

    @Test(arguments: [["IMAGE_CALLS_PER_DAY_PER_USER": "1"], ["IMAGE_CALLS_PER_DAY": "1"]])
    func `a job fails without a call when the paid calls of the day are made`(settings: [String: String]) async throws {
        let generator = ScriptedGenerator(.picture, isPaid: true)
        try await WorkerFixture.with(generator, settings: settings) { worker in
            let ids = [try await worker.submit(), try await worker.submit(awaitsTurn: true)]
            try await worker.running {
                let jobs = [try await worker.ended(ids[0]), try await worker.ended(ids[1])]
                // Which one is first is open: the sweeper fills the free place.
                #expect(Set(jobs.map { $0.failure?.code }) == [nil, .unavailable])
            }
            #expect(generator.calls == 1)
            #expect(try await ImageCallRepository(worker.postgres).totalToday() == 1)
        }
    }

    @Test func `a call that cost nothing does not count for the day`() async throws {
        let generator = ScriptedGenerator(.fail(.rateLimited(retryAfter: .zero)), .picture, isPaid: true)
        try await WorkerFixture.with(generator, settings: ["IMAGE_CALLS_PER_DAY": "1"]) { worker in
            let id = try await worker.submit()
            try await worker.running {
                let job = try await worker.ended(id)
                #expect(job.status == .completed)
            }
            #expect(generator.calls == 2)
        }
    }

    @Test func `calls of a generator that is not paid are not counted`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            let id = try await worker.submit()
            try await worker.running { _ = try await worker.ended(id) }
            #expect(try await worker.postgres.query("SELECT FROM image_calls").isEmpty)
        }
    }
}
