import BlobStore
import Foundation
import Pictures
import PostgresClient
import ServiceDefaults
import Testing
import WireFormat

@testable import ImageWorker

/// The retention of image-worker, with the role of the service.
struct SweeperTests {
    @Test func `every step runs with the role of the service, on an empty and on a filled database`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            let service = worker.context.postgres
            let sweeper = ImageWorker.sweeper(
                postgres: service, store: worker.blobs, cleanup: JobCleanup(postgres: service, store: worker.blobs),
                turns: JobTurns(postgres: service, places: ImageJobRepository.usualPlaces), paidCalls: .usual,
                photoLifetime: .seconds(3_600),
                logger: worker.context.logger)
            let nothing = await sweeper.sweep()
            #expect(nothing == Dictionary(uniqueKeysWithValues: sweeper.stepNames.map { ($0, 0) }))

            let overdue = try await worker.submit(processingTime: .seconds(-1))
            try await worker.postgres.withTransaction { try await $0.script(Self.dueRows(of: worker.user)) }
            let swept = await sweeper.sweep()
            // Stray pictures and photos are files.
            #expect(
                swept == [
                    "overdue_jobs": 1, "waiting_jobs": 1, "image_calls": 1, "image_costs": 1, "image_jobs": 2, "image_uploads": 2,
                    "topic_photos": 2, "stray_pictures": 0, "stray_topic_photos": 0,
                ])
            #expect(try await worker.jobs.find(id: overdue)?.failure?.code == .timeout)
            #expect(try await worker.postgres.query("SELECT FROM image_attempts").isEmpty, "they went with their jobs")
        }
    }

    /// Rows for each step: an expired and a deleted job, one with a leftover upload, and photos without a topic or past their time.
    private static func dueRows(of user: UUID) -> String {
        """
        INSERT INTO image_jobs (id, user_id, template_id, template_name, status, error_code, error_message, completed_at, input_key,
                                expires_at, deleted_at)
        SELECT gen_random_uuid(), '\(user.uuidString)', 'vintage', 'Vintage', 'failed', 'timeout', 'It took too long.',
               now() - interval '1 hour', input_key, now() + expiry, now() - deletion
        FROM (VALUES (NULL, interval '-1 hour', NULL::interval), (NULL, interval '1 hour', interval '1 day'),
                     ('images/' || gen_random_uuid() || '/input', interval '1 hour', NULL)) AS due (input_key, expiry, deletion);
        INSERT INTO image_jobs (id, user_id, template_id, template_name, awaits_turn)
        VALUES (gen_random_uuid(), '\(user.uuidString)', 'vintage', 'Vintage', true);
        INSERT INTO image_calls (day, user_id, calls) VALUES (now()::date - 3, NULL, 1), (now()::date, NULL, 2);
        INSERT INTO image_costs (user_id, minute, cost_ms) SELECT '\(user.uuidString)', now() - interval '10 minutes', 1;
        INSERT INTO image_attempts (job_id, number, generator) SELECT id, 1, 'g' FROM image_jobs WHERE expires_at < now();
        INSERT INTO image_job_reads (job_id, trigger) SELECT id, 'poll' FROM image_jobs WHERE expires_at < now();
        INSERT INTO topic_photos (id, uploader_id, photo_key, expires_at)
        VALUES (gen_random_uuid(), gen_random_uuid(), 'k', now() + interval '1 hour'),
               (gen_random_uuid(), gen_random_uuid(), 'k', now() - interval '1 hour')
        """
    }
}
