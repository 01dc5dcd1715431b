import Foundation
import TestSupport
import Testing

@testable import HeliographCtl

struct TemplatesCommandTests {
    @Test func `the list has every template, in the order in which users see them`() async throws {
        try await withMigratedDatabase { database async throws in
            _ = await heliographctl("templates", "set", "vintage", "--disable", "--database-url", database.url)
            let result = await heliographctl("templates", "list", "--database-url", database.url)
            #expect(result.exitCode == 0 && result.results.count == 7)
            #expect(result.results[0].hasPrefix("ID             NAME"))
            #expect(result.results[1].hasPrefix("anime-style    Anime Style"))
            #expect(result.results.first { $0.hasPrefix("vintage ") }?.contains(" no ") == true)
            let json = await heliographctl("templates", "list", "--json", "--database-url", database.url)
            let list = try #require(
                try JSONSerialization.jsonObject(with: Data(json.results.joined(separator: "\n").utf8)) as? [[String: Any]])
            #expect(list.count == 6 && list[0]["id"] as? String == "anime-style" && list[0]["enabled"] as? Bool == true)
        }
    }

    @Test func `a new template is written, and preview prints its final prompt`() async throws {
        try await withMigratedDatabase { database async throws in
            let folder = try TemporaryDirectory()
            try "Turn it into film noir.\n".write(toFile: "\(folder.path)/noir.txt", atomically: true, encoding: .utf8)
            let added = await heliographctl(
                "templates", "set", "noir", "--name", "Film Noir", "--style", "vintage", "--prompt-file", "\(folder.path)/noir.txt",
                "--negative-prompt", "text, logos", "--position", "70", "--database-url", database.url)
            #expect(added.exitCode == 0 && added.results == ["added noir"])
            let preview = await heliographctl("templates", "preview", "noir", "--database-url", database.url)
            #expect(preview.results == ["Turn it into film noir.\n\nAvoid: text, logos"])
        }
    }

    @Test func `fields that are not given stay unchanged`() async throws {
        try await withMigratedDatabase { database async throws in
            let before = try await database.psql("SELECT prompt FROM image_templates WHERE id = 'pop-art'")
            let changed = await heliographctl("templates", "set", "pop-art", "--name", "Pop!", "--database-url", database.url)
            #expect(changed.exitCode == 0 && changed.results == ["changed pop-art"])
            #expect(try await database.psql("SELECT name FROM image_templates WHERE id = 'pop-art'") == "Pop!")
            #expect(try await database.psql("SELECT prompt FROM image_templates WHERE id = 'pop-art'") == before)
        }
    }

    @Test func `an unknown template is not shown, and not created from incomplete fields`() async throws {
        try await withMigratedDatabase { database async throws in
            let preview = await heliographctl("templates", "preview", "none", "--database-url", database.url)
            #expect(preview.exitCode == 1 && preview.results.isEmpty)
            let half = await heliographctl("templates", "set", "none", "--name", "None", "--database-url", database.url)
            #expect(half.exitCode == 64 && half.notes.last?.contains("--prompt") == true)
            #expect(try await database.psql("SELECT count(*) FROM image_templates") == "6")
        }
    }

    @Test(arguments: [
        ["UPPER"], ["a", "--name", ""], ["a", "--style", "cubism"], ["a", "--preview", "http://x"],
        ["a", "--prompt", "x", "--prompt-file", "y"], ["a", "--prompt-file", "/nonexistent"],
        ["a", "--negative-prompt", String(repeating: "x", count: 2_001)],
    ])
    func `an invalid template is refused without the database`(arguments: [String]) async {
        #expect(await heliographctl(["templates", "set"] + arguments).exitCode == 64)
    }
}
