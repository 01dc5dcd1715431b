import FaceEngine
import Foundation
import TestSupport
import Testing

@testable import HeliographCtl

struct FacesCommandTests {
    @Test func `pairs of accounts with the same face are listed and resolved`() async throws {
        try await withMigratedDatabase { database async throws in
            let id = "7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11"
            let users = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"]
            for user in users {
                _ = try await database.psql("INSERT INTO users (id) VALUES ('\(user)')")
                _ = try await database.psql(
                    "INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed) VALUES ('\(user)', 'm', 1, '\\x01')")
            }
            _ = try await database.psql(
                "INSERT INTO face_duplicates (id, user_id, other_id) VALUES ('\(id)', '\(users[1])', '\(users[0])')")
            let list = await heliographctl("faces", "duplicates", "list", "--database-url", database.url)
            #expect(list.results.count == 2 && list.results[1].hasPrefix(id))
            #expect(users.allSatisfy { list.results[1].contains($0) })
            #expect(await heliographctl("faces", "duplicates", "resolve", id, "--database-url", database.url).exitCode == 0)
            #expect(await heliographctl("faces", "duplicates", "resolve", id, "--database-url", database.url).exitCode == 1)
            #expect(await heliographctl("faces", "duplicates", "list", "--database-url", database.url).results.count == 1)
            let resolved = await heliographctl(
                "faces", "duplicates", "list", "--state", "resolved", "--json", "--database-url", database.url)
            #expect(resolved.results.joined().contains(id))
            #expect(try await database.psql("SELECT string_agg(action, ', ') FROM audit_log") == "face_duplicate_resolved")
        }
    }

    @Test func `reindex fails when no worker runs, and asks for nothing`() async throws {
        try await withMigratedDatabase { database async throws in
            try await Self.report("old:1", faces: 0, at: "now() - interval '1 minute'", in: database)
            let reindex = await heliographctl("faces", "reindex", "--database-url", database.url)
            #expect(reindex.exitCode == 1 && reindex.notes.joined().contains("No worker has reported"))
            #expect(try await database.psql("SELECT count(*) FROM face_reindexes") == "0")
            #expect(try await database.psql("SELECT count(*) FROM audit_log") == "0")
        }
    }

    @Test func `reindex waits until the running workers have read the faces, and compares`() async throws {
        try await withMigratedDatabase { database async throws in
            try await Self.store(faces: 2, in: database)
            for worker in ["a:1", "b:1"] { try await Self.report(worker, faces: 0, at: "now()", in: database) }
            async let reindex = heliographctl("faces", "reindex", "--json", "--database-url", database.url)
            try await eventually("the request") { try await database.psql("SELECT count(*) FROM face_reindexes") == "1" }
            try await Self.report("a:1", faces: 2, reindexed: "1", at: "now() + interval '1 hour'", in: database)
            try await Self.report("b:1", faces: 1, unusable: 1, reindexed: "1", at: "now() + interval '1 hour'", in: database)
            let result = await reindex
            #expect(result.exitCode == 0)
            #expect(result.notes.contains("a:1: waits"))
            #expect(result.results.joined().filter { $0 != " " }.contains("\"is_equal\":true"))
            #expect(try await database.psql("SELECT string_agg(action, ', ') FROM audit_log") == "face_reindex_requested")
        }
    }

    @Test func `reindex fails when a worker is not done in time`() async throws {
        try await withMigratedDatabase { database async throws in
            try await Self.report("a:1", faces: 0, reindexed: "0", at: "now() + interval '1 hour'", in: database)
            let reindex = await heliographctl("faces", "reindex", "--timeout", "0s", "--database-url", database.url)
            #expect(reindex.exitCode == 1)
            #expect(reindex.results.contains { $0.contains("a:1") && $0.contains("waits") })
        }
    }

    @Test(arguments: [(2, 0, "as the tables", 0), (1, 1, "as the tables", 0), (1, 0, "1 missing", 1), (5, 0, "3 too many", 1)])
    func `a check compares the faces of a worker with the tables, and asks for nothing`(
        faces: Int, unusable: Int, state: String, exitCode: Int32
    ) async throws {
        try await withMigratedDatabase { database async throws in
            try await Self.store(faces: 2, in: database)
            try await Self.report("a:1", faces: faces, unusable: unusable, reindexed: "0", at: "now() + interval '1 hour'", in: database)
            let check = await heliographctl("faces", "reindex", "--check", "--timeout", "0s", "--database-url", database.url)
            #expect(check.exitCode == exitCode)
            #expect(check.results.contains { $0.contains("a:1") && $0.contains(state) })
            #expect(try await database.psql("SELECT count(*) FROM face_reindexes") == "0")
        }
    }

    private static func store(faces count: Int, in database: TestDatabase) async throws {
        for seed in 1...count {
            let user = "00000000-0000-4000-8000-00000000000\(seed)"
            _ = try await database.psql("INSERT INTO users (id) VALUES ('\(user)')")
            _ = try await database.psql(
                "INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed) "
                    + "VALUES ('\(user)', '\(FaceModels.modelID)', \(EnrolledFace.currentPipelineVersion), '\\x01')")
        }
    }

    private static func report(
        _ worker: String, faces: Int, unusable: Int = 0, reindexed: String = "NULL", at time: String, in database: TestDatabase
    ) async throws {
        _ = try await database.psql(
            """
            INSERT INTO face_indexes (worker, faces, unusable, reindexed, reported_at)
            VALUES ('\(worker)', \(faces), \(unusable), \(reindexed), \(time))
            ON CONFLICT (worker) DO UPDATE SET faces = excluded.faces, unusable = excluded.unusable, reindexed = excluded.reindexed,
                reported_at = excluded.reported_at
            """)
    }
}
