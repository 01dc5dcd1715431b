import Schema
import TestSupport
import Testing

@testable import HeliographCtl

struct MigrateCommandTests {
    @Test func `up applies and prints the pending migrations, and does nothing the second time`() async throws {
        try await withEmptyDatabase { database async throws in
            let first = await heliographctl("migrate", "up", "--database-url", database.url)
            #expect(first.exitCode == 0)
            #expect(first.results.count == HeliographSchema.migrations.count)
            #expect(first.results.first?.hasPrefix("applied 0001 baseline ") == true)
            #expect(first.notes == ["Applied 1 migration."])
            #expect(try await database.psql("SELECT count(*) FROM sessions") == "0")

            let second = await heliographctl("migrate", "up", "--database-url", database.url)
            #expect(second.exitCode == 0)
            #expect(second.results.isEmpty)
            #expect(second.notes == ["The schema is up to date."])
        }
    }

    @Test func `concurrent ups apply every step once`() async throws {
        try await withEmptyDatabase { database async throws in
            let results = await withTaskGroup(of: CommandResult.self) { group in
                for _ in 0..<3 {
                    group.addTask { await heliographctl("migrate", "up", "--database-url", database.url) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.allSatisfy { $0.exitCode == 0 })
            #expect(results.flatMap(\.results).count == HeliographSchema.migrations.count)
        }
    }

    @Test func `up makes the roles of the services when it is asked to, and may be repeated`() async throws {
        try await withEmptyDatabase { database async throws in
            let prefix = "c" + database.name.suffix(8)
            for _ in 0..<2 {
                let result = await heliographctl(
                    "migrate", "up", "--service-roles", "--role-prefix", prefix, "--database-url", database.url)
                #expect(result.exitCode == 0)
                #expect(result.notes.last == "The roles of the services have the privileges and limits of this version.")
            }
            let roles = try await database.psql("SELECT count(*) FROM pg_roles WHERE rolname LIKE '\(prefix)\\_%' AND rolcanlogin")
            #expect(roles == "5")
        }
    }

    @Test func `roles are refused for a part of the schema, and under names that would need quotes`() async {
        let partly = await heliographctl("migrate", "up", "--service-roles", "--to", "99")
        #expect(partly.exitCode == 64)
        let quoted = await heliographctl("migrate", "up", "--service-roles", "--role-prefix", "a\"b")
        #expect(quoted.exitCode == 64)
    }

    @Test func `status distinguishes applied and pending, and --check sets the exit code`() async throws {
        try await withEmptyDatabase { database async throws in
            let before = await heliographctl("migrate", "status", "--database-url", database.url)
            #expect(before.exitCode == 0)
            #expect(before.results == ["0001 baseline  pending"])
            let check = await heliographctl("migrate", "status", "--check", "--database-url", database.url)
            #expect(check.exitCode == 3)
            _ = await heliographctl("migrate", "up", "--to", "1", "--database-url", database.url)
            let done = await heliographctl("migrate", "status", "--check", "--database-url", database.url)
            #expect(done.exitCode == 0)
            #expect(done.results == ["0001 baseline  applied"])
        }
    }

    @Test func `down only prints what it would do without --yes`() async throws {
        try await withMigratedDatabase { database async throws in
            let dry = await heliographctl("migrate", "down", "--to", "0", "--database-url", database.url)
            #expect(dry.exitCode == 0)
            #expect(dry.results == ["would undo 0001 baseline"])
            #expect(try await database.psql("SELECT to_regclass('inbox') IS NOT NULL") == "t")

            let real = await heliographctl("migrate", "down", "--to", "0", "--yes", "--database-url", database.url)
            #expect(real.exitCode == 0)
            #expect(real.results.map { String($0.prefix(20)) } == ["undone 0001 baseline"])
            #expect(try await database.psql("SELECT to_regclass('inbox') IS NULL") == "t")
        }
    }

    @Test func `a changed migration is reported, not overwritten`() async throws {
        try await withMigratedDatabase { database async throws in
            try await database.psql("UPDATE schema_migrations SET checksum = 'other' WHERE number = 1")
            let status = await heliographctl("migrate", "status", "--database-url", database.url)
            #expect(status.exitCode == 1)
            #expect(status.results[0].hasSuffix(" changed"))
            let up = await heliographctl("migrate", "up", "--database-url", database.url)
            #expect(up.exitCode == 1)
        }
    }

    @Test func `an unreachable database has its own exit code and a hint`() async throws {
        let missing = "postgresql://nobody@127.0.0.1:1/none"
        let result = await heliographctl("migrate", "up", "--wait", "0", "--database-url", missing)
        #expect(result.exitCode == 75)
        #expect(result.notes.last == "If it is just starting, use --wait 30.")
    }

    @Test func `up waits for a database that is still starting`() async throws {
        let server = try await PostgresServer.start()
        await server.stop()
        async let result = heliographctl("migrate", "up", "--wait", "60", "--database-url", server.url())
        try await server.start()
        #expect(await result.exitCode == 0)
        await server.stop()
    }

    @Test(arguments: [
        ["migrate", "up", "--to", "99"], ["migrate", "down"], ["migrate", "down", "--to", "-1"], ["migrate", "sideways"],
        ["migrate", "up", "--wait", "-1"], ["migrate", "up", "--wait", "soon"],
    ])
    func `wrong arguments exit with 64`(_ arguments: [String]) async {
        #expect(await heliographctl(arguments).exitCode == 64)
    }
}
