import InMemoryLogging
import Logging
import PostgresClient
import TestSupport
import Testing

@Suite("Migrations")
struct MigrationTests {
    private let first = Migration(
        number: 1, name: "people",
        up: """
            CREATE TABLE people (id int PRIMARY KEY, name text);
            -- A semicolon; in a comment, and in a body:
            CREATE FUNCTION one() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;
            INSERT INTO people VALUES (1, 'semi;colon');
            """,
        down: "DROP FUNCTION one(); DROP TABLE people")
    private let second = Migration(
        number: 2, name: "ages", up: "ALTER TABLE people ADD COLUMN age int", down: "ALTER TABLE people DROP COLUMN age")
    private let third = Migration(number: 5, name: "index", up: "CREATE INDEX i ON people (age)", down: "DROP INDEX i")

    private func states(_ runner: MigrationRunner) async throws -> [MigrationStatus.State] {
        try await runner.status().map(\.state)
    }

    @Test func `migrations are applied once, in part and in full`() async throws {
        try await withClient { client in
            let runner = try MigrationRunner(client: client, migrations: [third, first, second])
            #expect(try await states(runner) == [.pending, .pending, .pending])
            #expect(try await runner.migrate(to: 2) == [first, second])
            #expect(try await runner.migrate() == [third])
            #expect(try await runner.migrate().isEmpty)
            #expect(try await states(runner) == [.applied, .applied, .applied])
            let people = try await client.query("SELECT name FROM people WHERE id = one()")[0].decode(0, as: String.self)
            #expect(people == "semi;colon")
        }
    }

    @Test func `migrations are rolled back, the latest first, and applied again`() async throws {
        try await withClient { client in
            let runner = try MigrationRunner(client: client, migrations: [first, second, third])
            try await runner.migrate()
            #expect(try await runner.rollback(to: 1) == [third, second])
            #expect(try await states(runner) == [.applied, .pending, .pending])
            try await runner.rollback(to: 0)
            #expect(await postgresError { try await client.query("SELECT * FROM people") }?.sqlState == "42P01")
            #expect(try await runner.migrate() == [first, second, third])
        }
    }

    @Test func `a failing migration is rolled back, and the ones before it stay applied`() async throws {
        try await withClient { client in
            let broken = Migration(number: 3, name: "broken", up: "CREATE TABLE half (a int); SELECT 1/0", down: "")
            let runner = try MigrationRunner(client: client, migrations: [first, broken])
            let error = await #expect(throws: PostgresError.self) { try await runner.migrate() }
            #expect(error?.sqlState == "22012")
            #expect(error?.message.contains("migration 3") == true)
            #expect(try await states(runner) == [.applied, .pending])
            await #expect(throws: PostgresError.self) { try await client.query("SELECT * FROM half") }
        }
    }

    @Test func `a migration that was changed after it was applied makes the runner refuse to run`() async throws {
        try await withClient { client in
            try await MigrationRunner(client: client, migrations: [first]).migrate()
            let edited = Migration(number: 1, name: "people", up: first.up + " ", down: first.down)
            let runner = try MigrationRunner(client: client, migrations: [edited, second])
            for attempt in [{ try await runner.migrate() }, { try await runner.rollback(to: 0) }] {
                #expect(await postgresError { try await attempt() }?.code == .migration)
            }
            #expect(try await states(runner) == [.changed, .pending])
        }
    }

    @Test func `a missing migration below an applied number is refused`() async throws {
        try await withClient { client in
            let later = Migration(number: 5, name: "later", up: "CREATE TABLE later (a int)", down: "DROP TABLE later")
            try await MigrationRunner(client: client, migrations: [first, later]).migrate()
            let runner = try MigrationRunner(client: client, migrations: [first, second, later])
            #expect(await postgresError { try await runner.migrate() }?.code == .migration)
        }
    }

    @Test func `migrations of a newer program are reported and not changed`() async throws {
        try await withClient { client in
            try await MigrationRunner(client: client, migrations: [first, second]).migrate()
            let older = try MigrationRunner(client: client, migrations: [first])
            #expect(try await states(older) == [.applied, .unknown])
            #expect(try await older.migrate().isEmpty)
            await #expect(throws: PostgresError.self) { try await older.rollback(to: 0) }
        }
    }

    @Test func `runners that start together apply each migration once`() async throws {
        try await withEmptyDatabase { database in
            let migrations = (1...10).map { number in
                Migration(number: number, name: "t\(number)", up: "CREATE TABLE t\(number) (a int)", down: "DROP TABLE t\(number)")
            }
            let applied = try await race(5) { _ in
                let client = try PostgresClient(configuration: PostgresConfiguration(url: database.url), logger: quietLogger)
                let count = try await MigrationRunner(client: client, migrations: migrations).migrate().count
                await client.shutdown()
                return count
            }
            #expect(applied.reduce(0, +) == 10)
        }
    }

    @Test func `a migration that waits for a lock lets other statements through, and succeeds once the lock is free`() async throws {
        try await withEmptyDatabase { database in
            try await withClient(to: database.url) { client in
                let log = InMemoryLogHandler()
                try await MigrationRunner(client: client, migrations: [first]).migrate()
                let runner = try MigrationRunner(
                    client: client, migrations: [first, second], logger: Logger(label: "test") { _ in log })
                let migration = try await client.withTransaction { reader in
                    try await reader.execute("SELECT FROM people")
                    let migration = Task { try await runner.migrate() }
                    try await eventually("the migration waits for the lock") {
                        // Of this database: a migration of another test may wait as well.
                        let waiting = """
                            SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted
                                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                            """
                        return try await database.psql(waiting) == "1" ? () : nil
                    }
                    // The reader keeps its lock, and this statement waits behind the migration until that gives up.
                    let read: PostgresQuery = "SELECT name FROM people"
                    #expect(try await client.query(read.timeout(.seconds(10))).count == 1)
                    return migration
                }
                #expect(try await migration.value == [second])
                #expect(log.entries.contains { $0.level == .notice && "\($0.message)".contains("waits for a lock") })
            }
        }
    }

    @Test func `a migration that gets no lock within its time fails, and says what to do`() async throws {
        try await withClient { client in
            try await MigrationRunner(client: client, migrations: [first]).migrate()
            let runner = try MigrationRunner(client: client, migrations: [first, second], timeout: .milliseconds(200))
            try await client.withTransaction { reader in
                try await reader.execute("SELECT FROM people")
                let error = await postgresError { try await runner.migrate() }
                #expect(error?.message.contains("end the transactions that hold its tables") == true)
            }
            #expect(try await states(runner) == [.applied, .pending])
        }
    }

    @Test func `numbers are unique and start at one`() async throws {
        try await withClient { client in
            #expect(throws: PostgresError.self) { try MigrationRunner(client: client, migrations: [first, first]) }
            let zero = Migration(number: 0, name: "", up: "", down: "")
            #expect(throws: PostgresError.self) { try MigrationRunner(client: client, migrations: [zero]) }
            _ = try await client.query("SELECT 1")
        }
    }
}
