internal import ArgumentParser

/// The commands for the database schema.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrate the database to the schema of this version, or back.",
        discussion: """
            Every step is applied in a transaction of its own, under a lock, so that several of these commands may be \
            started at once: one applies the steps, the others wait and then find nothing to do.
            """,
        subcommands: [MigrateUpCommand.self, MigrateDownCommand.self, MigrateStatusCommand.self]
    )
}
