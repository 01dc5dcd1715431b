internal import ArgumentParser
internal import CommandLineSupport
internal import PostgresClient
internal import Schema

/// Undoes migrations, newest first.
struct MigrateDownCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Undo migrations, newest first. Data in the tables they made is lost.",
        discussion: """
            --to names the last migration that stays: `migrate down --to 3 --yes` undoes 4 and all after it, `--to 0` \
            empties the database. Without --yes it only prints what it would do.
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: ArgumentHelp("The last migration that stays; 0 undoes all.", valueName: "number"))
    var to: Int

    @Flag(name: .long, help: "Really do it.")
    var yes = false

    mutating func validate() throws {
        try Migrations.check(number: to, from: 0)
    }

    func run() async throws {
        try await database.withDatabase(queryTimeout: Migrations.stepTimeout) { client in
            let runner = try MigrationRunner(
                client: client, migrations: HeliographSchema.migrations, logger: ConsoleLogHandler.logger())
            let applied = try await runner.status().filter { $0.state != .pending && $0.number > to }
            guard !applied.isEmpty else {
                Console.current.note("Nothing to undo.")
                return
            }
            for status in applied.reversed() {
                guard yes else {
                    Console.current.result("would undo \(status.label)")
                    continue
                }
                let start = ContinuousClock.now
                try await runner.rollback(to: status.number - 1)
                Console.current.result("undone \(status.label)  \(elapsed(since: start))")
            }
            if !yes { Console.current.note("Nothing was changed: add --yes to do it.") }
        }
    }
}
