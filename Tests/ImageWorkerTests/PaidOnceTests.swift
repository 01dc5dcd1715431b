import BlobStore
import Foundation
import ImageGenerators
import NIOCore
import Pictures
import PostgresClient
import TestSupport
import Testing
import WireFormat

@Suite struct PaidOnceTests {
    @Test func `a job that is requested several times concurrently ends once with one push`() async throws {
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator) { worker in
            let id = try await worker.submit(requests: 6)
            try await worker.running {
                let job = try await worker.ended(id)
                #expect(job.status == .completed)
                try await eventually("all requests are handled") {
                    let open = try await worker.postgres.query(
                        "SELECT id FROM outbox WHERE type = 'image.requested' AND state IN ('waiting', 'published')")
                    return open.isEmpty
                }
                #expect(try await worker.onlyPush(about: id) != nil)
                #expect(try await worker.events(ImageCompleted.self, about: id).count == 1)
                #expect(generator.calls == 1)
            }
        }
    }

    @Test(arguments: [true, false])
    func `a picture that a dead worker stored is used without another call`(isNoted: Bool) async throws {
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator) { worker in
            let id = try await worker.submit()
            let number = try await worker.leaveAttempt(of: id)
            let key = try BlobKey("images/\(id.wireString)/raw-\(number)")
            try await worker.blobs.write(key) { try await $0.append(ByteBuffer(bytes: try Photos.portrait())) }
            if isNoted {
                try await worker.attempts.finish(
                    jobID: id, number: number, outcome: .generated(rawKey: key.name, modelUsed: "m-1", durationMs: 77))
            }
            try await worker.running {
                let job = try await worker.ended(id)
                #expect(job.status == .completed && generator.calls == 0)
                #expect(job.result?.modelUsed == (isNoted ? "m-1" : "earlier"))
                #expect(job.result?.generationTimeMs == (isNoted ? 77 : nil))
            }
        }
    }

    @Test func `a call that was in flight in a dead worker is repeated once, and both are counted`() async throws {
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator) { worker in
            let id = try await worker.submit()
            _ = try await worker.leaveAttempt(of: id)
            try await worker.running {
                let job = try await worker.ended(id)
                let attempts = try await worker.attempts.list(jobID: id)
                #expect(job.status == .completed && generator.calls == 1)
                #expect(attempts.map { $0.outcome == nil } == [true, false])
            }
        }
    }

    @Test func `a lease that expired while the worker was suspended is renewed before the next call`() async throws {
        let generator = ScriptedGenerator(.fail(.noImage), .picture)
        try await WorkerFixture.with(generator) { worker in
            try await worker.postgres.execute(
                """
                CREATE FUNCTION lapse() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN UPDATE image_jobs SET lease_until = now() WHERE id = NEW.job_id; RETURN NULL; END'
                """)
            try await worker.postgres.execute(
                "CREATE TRIGGER lapse AFTER UPDATE ON image_attempts FOR EACH ROW EXECUTE FUNCTION lapse()")
            try await worker.running {
                let job = try await worker.ended(try await worker.submit())
                #expect(job.status == .completed && generator.calls == 2)
            }
        }
    }

    @Test func `storing a paid picture is retried until the deadline, without another call`() async throws {
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator) { worker in
            let id = try await worker.submit(processingTime: .seconds(10))
            try worker.obstruct("images/\(id.wireString)/raw-1")
            try await worker.running {
                let job = try await worker.ended(id)
                #expect(job.status == .failed && generator.calls == 1)
                #expect(try #require(job.completedAt).timeIntervalSince(job.createdAt) > 2, "it was tried for a while")
            }
        }
    }

    @Test func `repeated crashes of workers do not repeat the calls without limit`() async throws {
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator) { worker in
            let id = try await worker.submit()
            for _ in 0..<3 { _ = try await worker.leaveAttempt(of: id) }
            try await worker.running {
                let job = try await worker.ended(id)
                #expect(job.failure?.code == .unavailable && generator.calls == 0)
            }
        }
    }

    @Test func `every job ends once after Redis was wiped`() async throws {
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator, ownRedis: true) { worker in
            try await worker.running {
                var ids: [UUID] = []
                for index in 0..<12 {
                    ids.append(try await worker.submit())
                    if index.isMultiple(of: 4) { try await worker.redis.cli("FLUSHALL") }
                }
                for id in ids {
                    #expect(try await worker.ended(id).status == .completed)
                    #expect(try await worker.onlyPush(about: id) != nil)
                }
                #expect(generator.calls == 12)
            }
        }
    }
}

extension WorkerFixture {
    /// Records an attempt as a worker does that dies during its call, and returns the attempt's number.
    func leaveAttempt(of id: UUID) async throws -> Int {
        let worker = UUID()
        _ = try #require(try await jobs.begin(id: id, worker: worker))
        let number = try #require(try await attempts.begin(jobID: id, worker: worker, generator: "earlier"))
        try await postgres.execute("UPDATE image_jobs SET lease_until = now() WHERE id = \(id)")
        return number
    }
}
