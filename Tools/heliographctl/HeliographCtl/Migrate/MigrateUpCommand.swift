internal import ArgumentParser
internal import CommandLineSupport
internal import PostgresClient
internal import Storage

/// Applies the pending migrations.
struct MigrateUpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Apply the migrations that are pending.",
        discussion: "Safe to run at every start: it does nothing when nothing is pending."
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: ArgumentHelp("Stop after this migration.", valueName: "number"))
    var to: Int?

    mutating func validate() throws {
        if let to { try Schema.check(number: to, from: 1) }
    }

    func run() async throws {
        let target = to ?? Schema.latest
        try await database.withDatabase(queryTimeout: Schema.stepTimeout) { client in
            var applied = 0
            for migration in HeliographSchema.migrations where migration.number <= target {
                let start = ContinuousClock.now
                let runner = try MigrationRunner(client: client, migrations: HeliographSchema.migrations)
                guard try await !runner.migrate(to: migration.number).isEmpty else { continue }
                applied += 1
                Console.current.result("applied \(migration.label)  \(elapsed(since: start))")
            }
            Console.current.note(
                applied == 0
                    ? "The schema is up to date." : "Applied \(applied) migration\(applied == 1 ? "" : "s").")
        }
    }
}
