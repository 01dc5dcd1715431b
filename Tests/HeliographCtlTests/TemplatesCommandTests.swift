import Accounts
import Foundation
import HeliographCrypto
import Pictures
import PostgresClient
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
            #expect(result.results.first { $0.hasPrefix("vintage ") }?.contains(" disabled ") == true)
            let json = await heliographctl("templates", "list", "--json", "--database-url", database.url)
            let list = try #require(
                try JSONSerialization.jsonObject(with: Data(json.results.joined(separator: "\n").utf8)) as? [[String: Any]])
            #expect(list.count == 6 && list[0]["id"] as? String == "anime-style" && list[0]["state"] as? String == "published")
        }
    }

    @Test func `a new template is written, and preview prints its final prompt`() async throws {
        try await withMigratedDatabase { database async throws in
            let folder = try TemporaryDirectory()
            try "Turn it into film noir.\n".write(toFile: "\(folder.path)/noir.txt", atomically: true, encoding: .utf8)
            let added = await heliographctl(
                "templates", "set", "noir", "--name", "Film Noir", "--style", "vintage", "--prompt-file", "\(folder.path)/noir.txt",
                "--negative-prompt", "text, logos", "--position", "70", "--database-url", database.url)
            #expect(added.exitCode == 0 && added.results == ["added noir, published"])
            let preview = await heliographctl("templates", "preview", "noir", "--database-url", database.url)
            #expect(preview.results == ["Turn it into film noir.", "", "Avoid: text, logos"])
        }
    }

    @Test func `fields that are not given stay unchanged`() async throws {
        try await withMigratedDatabase { database async throws in
            let before = try await database.psql("SELECT prompt FROM image_templates WHERE id = 'pop-art'")
            let changed = await heliographctl("templates", "set", "pop-art", "--name", "Pop!", "--database-url", database.url)
            #expect(changed.exitCode == 0 && changed.results == ["changed pop-art, published"])
            #expect(try await database.psql("SELECT name FROM image_templates WHERE id = 'pop-art'") == "Pop!")
            #expect(try await database.psql("SELECT prompt FROM image_templates WHERE id = 'pop-art'") == before)
        }
    }

    @Test func `a draft is not offered before it is published, and each change is recorded`() async throws {
        try await withMigratedDatabase { database async throws in
            func set(_ arguments: String...) async -> [String] {
                await heliographctl(["templates", "set", "noir"] + arguments + ["--operator", "grace", "--database-url", database.url])
                    .results
            }
            #expect(await set("--name", "Noir", "--style", "vintage", "--prompt", "x", "--draft") == ["added noir, draft"])
            // The last one of the list has 60.
            #expect(try await database.psql("SELECT position FROM image_templates WHERE id = 'noir'") == "70")
            #expect(await set("--position", "75") == ["changed noir, draft"])
            try await withClient(of: database) { client async throws in
                let templates = ImageTemplateRepository(client)
                #expect(try await templates.find(id: "noir", publishedOnly: true) == nil)
                #expect(await set("--publish") == ["changed noir, published"])
                #expect(try await templates.find(id: "noir", publishedOnly: true) != nil)
            }
            let audit = try await database.psql("SELECT actor_id, action, detail FROM audit_log ORDER BY id")
            #expect(audit == Array(repeating: "grace|template_written|noir", count: 3).joined(separator: "\n"))
        }
    }

    @Test func `a template is deleted with --yes, unless a job has it`() async throws {
        try await withMigratedDatabase { database async throws in
            func delete(_ arguments: String...) async -> CommandResult {
                await heliographctl(["templates", "delete"] + arguments + ["--database-url", database.url])
            }
            #expect(await delete("vintage").results == ["would delete vintage, published: Vintage Photo"])
            try await withClient(of: database) { client async throws in
                let user = try await client.makeUser(emailLookup: SHA256.hash("ada")).id
                try await client.execute(
                    """
                    INSERT INTO image_jobs (id, user_id, template_id, template_name, deadline_at, expires_at)
                    VALUES (gen_random_uuid(), \(user), 'pop-art', 'Pop Art', now(), now())
                    """)
            }
            let used = await delete("pop-art", "--yes")
            #expect(used.exitCode == 1 && used.notes.last?.contains("`templates set pop-art --disable`") == true)
            #expect(await delete("vintage", "--yes").results == ["deleted vintage"])
            #expect(await delete("vintage", "--yes").exitCode == 1)
            #expect(try await database.psql("SELECT count(*) FROM image_templates") == "5")
            #expect(
                try await database.psql("SELECT string_agg(action || ' ' || detail, ', ') FROM audit_log") == "template_deleted vintage")
        }
    }

    @Test func `the local generator makes a picture with a template`() async throws {
        try await withMigratedDatabase { database async throws in
            let folder = try TemporaryDirectory()
            let path = "\(folder.path)/preview.png"
            let made = await heliographctl("templates", "preview", "pop-art", "--out", path, "--database-url", database.url)
            #expect(made.exitCode == 0, "\(made.notes)")
            let picture = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            // The signature of PNG, and in its header the width and the height.
            #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            #expect(Array(picture[16..<24]) == [0, 0, 0x02, 0x80, 0, 0, 0x01, 0xE0], "640 by 480")
            try Data("no picture".utf8).write(to: URL(fileURLWithPath: path))
            let refused = await heliographctl(
                "templates", "preview", "pop-art", "--photo", path, "--out", path, "--database-url", database.url)
            #expect(refused.exitCode == 1 && refused.notes.last?.hasPrefix("No picture was made: ") == true)
        }
        #expect(await heliographctl("templates", "preview", "pop-art", "--out", "a.gif").exitCode == 64)
        #expect(await heliographctl("templates", "preview", "pop-art", "--photo", "a.png").exitCode == 64)
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
        ["a", "--negative-prompt", String(repeating: "x", count: 2_001)], ["a", "--name", "\u{200B}"], ["a", "--name", "a\u{202E}b"],
        ["a", "--name", "a\u{1B}[2J"], ["a", "--name", "a\nb"], ["a", "--description", " "], ["a", "--prompt", "\u{200B}\n"],
        ["a", "--prompt", "a\u{1B}b"], ["a", "--preview", "https://"], ["a", "--preview", "https://a b"],
        ["a", "--position", "9999999999"],
        ["a", "--operator", "\u{200B}"],
    ])
    func `an invalid template is refused without the database`(arguments: [String]) async {
        #expect(await heliographctl(["templates", "set"] + arguments).exitCode == 64)
    }
}
