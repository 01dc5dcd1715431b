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
}
