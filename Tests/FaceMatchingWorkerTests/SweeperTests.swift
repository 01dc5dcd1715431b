import Logging
import PostgresClient
import Schema
import ServiceDefaults
import TestSupport
import Testing

@testable import FaceMatchingWorker

struct SweeperTests {
    @Test func `every step runs with the role of the service, on an empty and on a filled database`() async throws {
        try await withStorage(as: .faceMatchingWorker) { owner, service in
            let sweeper = FaceMatchingWorker.sweeper(postgres: service, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let nothing = await sweeper.sweep()
            #expect(nothing == Dictionary(uniqueKeysWithValues: sweeper.stepNames.map { ($0, 0) }))
            try await owner.withTransaction { try await $0.script(Self.dueRows) }
            let swept = await sweeper.sweep()
            #expect(swept == ["face_removals": 1, "face_duplicates": 1, "face_indexes": 1])
        }
    }

    /// A row for each step.
    private static let dueRows = """
        INSERT INTO face_removals (number, removed_at) VALUES (1, now() - interval '2 days');
        INSERT INTO face_duplicates (user_id, other_id) VALUES (gen_random_uuid(), gen_random_uuid());
        INSERT INTO face_indexes (worker, faces, unusable, reported_at) VALUES ('gone', 0, 0, now() - interval '2 hours')
        """
}
