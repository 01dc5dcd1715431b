internal import ArgumentParser
internal import CommandLineSupport
internal import PostgresClient
internal import Schema

/// Lists the migrations and their states.
struct MigrateStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "List the migrations and their states.",
        discussion: """
            applied: done. pending: to be done. changed: applied, but with a different text in this version. unknown: \
            applied by a newer version.
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Flag(name: .long, help: "Exit with 3 when migrations are pending.")
    var check = false

    func run() async throws {
        try await database.withDatabase(queryTimeout: Migrations.stepTimeout) { client in
            let runner = try MigrationRunner(client: client, migrations: HeliographSchema.migrations)
            let statuses = try await runner.status()
            for status in statuses {
                Console.current.result("\(status.label)  \(status.state)")
            }
            let odd = statuses.count { $0.state == .changed || $0.state == .unknown }
            if odd > 0 {
                Console.current.note("\(odd) changed or unknown: another version of Heliograph migrated this database. Run that one.")
                throw ExitCode.failure
            }
            let pending = statuses.count { $0.state == .pending }
            if pending > 0 {
                Console.current.note("\(pending) pending: `heliographctl migrate up` applies them.")
                if check { throw ExitCode.pending }
            }
        }
    }
}
