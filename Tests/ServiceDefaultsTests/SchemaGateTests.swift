import AsyncPrimitives
import Logging
import PostgresClient
import Schema
import ServiceLifecycle
import TestSupport
import Testing

@testable import ServiceDefaults

/// What a service does before its database has the schema of its version.
@Suite struct SchemaGateTests {
    private static let quiet = Logger(label: "schema-gate-tests") { _ in SwiftLogNoOpLogHandler() }

    private func gate(_ client: PostgresClient, required: Int = HeliographSchema.latest, clock: ManualClock = ManualClock()) -> SchemaGate {
        SchemaGate(required: required, postgres: client, logger: Self.quiet, clock: clock)
    }

    @Test func `an empty database has no schema, and is asked again after a second`() async throws {
        try await withEmptyDatabase { database in
            try await withClient(of: database) { client in
                let clock = ManualClock()
                let gate = gate(client, clock: clock)
                await #expect(throws: SchemaMissing.migration(HeliographSchema.latest)) { try await gate.check() }
                _ = try await MigrationRunner(client: client, migrations: HeliographSchema.migrations).migrate()
                await #expect(throws: SchemaMissing.self, "the last answer is younger than a second") { try await gate.check() }
                clock.advance(by: SchemaGate.interval)
                try await gate.check()
                #expect(gate.isOpen)
            }
        }
    }

    @Test func `an older schema is refused, and a newer one is accepted`() async throws {
        try await withStorage { client in
            let next = HeliographSchema.latest + 1
            await #expect(throws: SchemaMissing.migration(next)) { try await gate(client, required: next).check() }
            try await client.execute("INSERT INTO schema_migrations (number, name, checksum) VALUES (\(next), 'next', 'x')")
            try await gate(client, required: next).check()
            try await gate(client).check()
        }
    }

    @Test(arguments: ServiceRole.allCases) func `a role finds the schema when it has its privileges`(role: ServiceRole) async throws {
        try await withServiceRoles { database, prefix in
            try await withClient(of: database, as: role, prefix: prefix) { client in
                try await gate(client).check()
                try await database.psql("REVOKE ALL ON schema_migrations FROM \(role.name(prefix: prefix))")
                await #expect(throws: SchemaMissing.privilege) { try await gate(client).check() }
            }
        }
    }

    @Test func `a schema that was found is not asked for again`() async throws {
        try await withStorage { client in
            let gate = gate(client)
            try await gate.check()
            try await client.execute("DROP TABLE schema_migrations")
            try await gate.check()
        }
    }

    @Test func `callers at the same time ask one question`() async throws {
        try await withStorage { client in
            // Each reading of the table is counted.
            try await client.withTransaction { transaction in
                try await transaction.execute("ALTER TABLE schema_migrations RENAME TO applied")
                try await transaction.execute("CREATE SEQUENCE readings")
                try await transaction.execute(
                    "CREATE VIEW schema_migrations AS SELECT applied.*, nextval('readings') AS reading FROM applied")
            }
            let gate = gate(client, required: 1)
            try await race(20) { _ in try await gate.check() }
            #expect(try await client.query("SELECT nextval('readings') AS next").column("next", as: Int.self) == [2])
        }
    }

    @Test func `a caller that is cancelled leaves the question to the next one`() async throws {
        try await withStorage { client in
            let gate = gate(client)
            let second = try await client.withTransaction { owner in
                try await owner.execute("LOCK TABLE schema_migrations IN ACCESS EXCLUSIVE MODE")
                let first = Task { try await gate.check() }
                try await eventually("the first one waits for the lock") {
                    try await owner.query(
                        """
                        SELECT FROM pg_locks WHERE NOT granted
                            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                        """
                    ).count == 1
                }
                let second = Task { try await gate.check() }
                first.cancel()
                await #expect(throws: (any Error).self) { try await first.value }
                return second
            }
            try await second.value
            #expect(gate.isOpen)
        }
    }

    @Test func `what works on the database starts when its schema is new enough, what serves a port at once`() async throws {
        try await withMigratedDatabase { database in
            let settings = Settings(environment: [
                "DATABASE_URL": database.url, "REDIS_URL": try await RedisServer.shared().url, "ADMIN_PORT": "0",
                "REDIS_KEY_PREFIX": RedisServer.uniquePrefix(),
            ])
            let next = HeliographSchema.latest + 1
            let context = try ServiceContext(name: "two-parts", settings: settings, logger: Self.quiet, schema: next)
            let parts = TwoParts.Parts()
            let group = try await TwoParts.$parts.withValue(parts) {
                try await ServiceRunner.group(for: TwoParts.self, context: context, signals: [])
            }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                await parts.server.started.wait()
                let failures = await context.health.report().failures
                #expect(failures["schema"] == "migration \(next) is missing: run `heliographctl migrate up`")
                #expect(!parts.worker.started.isOpen)
                try await database.psql("INSERT INTO schema_migrations (number, name, checksum) VALUES (\(next), 'next', 'x')")
                await parts.worker.started.wait()
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
    }

    @Test func `a service that waits for its schema shuts down at once`() async throws {
        try await withEmptyDatabase { database in
            try await withClient(of: database) { client in
                let part = TwoParts.Part()
                let component = StartsWithSchema(component: part, schema: gate(client))
                let group = ServiceGroup(services: [component], logger: Self.quiet)
                await withTaskGroup(of: Void.self) { tasks in
                    tasks.addTask { try? await group.run() }
                    await group.triggerGracefulShutdown()
                    await tasks.waitForAll()
                }
                #expect(!part.started.isOpen)
            }
        }
    }
}

/// A service with a component that waits for the schema, and one that does not.
private enum TwoParts: HeliographService {
    struct Part: Service {
        let started = AsyncLatch()

        func run() async throws {
            started.open()
            try await gracefulShutdown()
        }
    }

    struct Parts {
        let worker = Part()
        let server = Part()
    }

    @TaskLocal static var parts = Parts()
    static let name = "two-parts"
    static let summary = "A worker and a server."

    static func build(_ context: ServiceContext) async throws -> [any Service] { [parts.worker, StartsWithoutSchema(parts.server)] }
}
