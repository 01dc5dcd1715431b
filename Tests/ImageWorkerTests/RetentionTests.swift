import Foundation
import ImageGenerators
import ImageWorker
import Pictures
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@Suite struct RetentionTests {
    @Test func `a job that no worker claimed before its deadline fails with a push`() async throws {
        let generator = ScriptedGenerator(.picture)
        try await WorkerFixture.with(generator) { worker in
            let id = try await worker.submit(processingTime: .seconds(-1))
            try await worker.running {
                let job = try await worker.ended(id)
                #expect(job.failure?.code == .timeout)
                #expect(try await worker.onlyPush(about: id)?.kind == .jobFailed)
                #expect(try await worker.events(ImageCompleted.self, about: id).map(\.status) == [.failed])
                #expect(generator.calls == 0)
            }
            try await worker.running { try await eventually("the upload is gone") { worker.blobs(of: id).isEmpty } }
        }
    }

    @Test func `an expired job is deleted with its pictures`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            var id = UUID()
            try await worker.running {
                id = try await worker.submit()
                _ = try await worker.ended(id)
                try await eventually("the upload is gone") { worker.blobs(of: id).count == 2 }
            }
            try await worker.postgres.execute("UPDATE image_jobs SET expires_at = now() WHERE id = \(id)")
            try await worker.running {
                try await eventually("pictures and row are gone") {
                    try await worker.postgres.query("SELECT id FROM image_jobs WHERE id = \(id)").isEmpty
                        && worker.blobs(of: id).isEmpty
                }
            }
        }
    }

    @Test func `a job that cannot be deleted does not delay others`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            let (stuck, other, leftover) = (try await worker.submit(), try await worker.submit(), try await worker.submit())
            try await worker.running { for id in [stuck, other, leftover] { _ = try await worker.ended(id) } }
            try await worker.postgres.execute(
                "CREATE TABLE stuck_jobs (id uuid REFERENCES image_jobs (id) ON DELETE RESTRICT)")
            try await worker.postgres.execute("INSERT INTO stuck_jobs VALUES (\(stuck))")
            try await worker.postgres.execute(
                """
                UPDATE image_jobs SET expires_at = now() - CASE id WHEN \(stuck) THEN interval '1 hour' ELSE interval '1 minute' END
                WHERE id <> \(leftover)
                """)
            try await worker.postgres.execute(
                """
                UPDATE image_jobs SET input_key = 'images/\(unescaped: leftover.wireString)/input',
                                      completed_at = now() - interval '2 minutes' WHERE id = \(leftover)
                """)
            try await worker.running {
                try await eventually("what is due later is gone") {
                    let rows = try await worker.postgres.query("SELECT id FROM image_jobs")
                    let ids = try rows.map { try $0.decode("id", as: UUID.self) }
                    return Set(ids) == [stuck, leftover] && worker.blobs(of: other).isEmpty
                }
                try await eventually("the next step is taken") { try await worker.jobs.find(id: leftover)?.inputKey == nil }
            }
        }
    }

    @Test func `the upload of an ended job that a dead worker left is deleted and the picture kept`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            let id = try await worker.submit()
            try await worker.running { _ = try await worker.ended(id) }
            let left = try await worker.submit()
            try await worker.postgres.execute(
                """
                UPDATE image_jobs SET input_key = 'images/\(unescaped: left.wireString)/input',
                                      completed_at = now() - interval '2 minutes' WHERE id = \(id)
                """)
            try await worker.running {
                _ = try await worker.ended(left)
                try await eventually("the leftover is noted as deleted") { try await worker.jobs.find(id: id)?.inputKey == nil }
                #expect(worker.hasOnlyPictures(id))
            }
        }
    }

    @Test(arguments: [
        ("IMAGE_GENERATOR", "magic"), ("IMAGE_CONCURRENCY", "0"), ("IMAGE_GENERATOR", "gemini"),
    ])
    func `an invalid setting prevents the start with one clear line`(name: String, value: String) async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture), settings: [name: value]) { worker in
            await #expect(throws: ConfigurationError.self) { try await ImageWorker.build(worker.context) }
        }
    }
}
