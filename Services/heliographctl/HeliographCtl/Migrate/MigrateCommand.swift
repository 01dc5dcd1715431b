internal import ArgumentParser

/// Works on the schema of the database.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database to the schema of this version, or back.",
        discussion: """
            Every step is applied in a transaction of its own, under a lock, so that several of these commands may be \
            started at once: one works, the others wait and then find nothing to do.
            """,
        subcommands: [MigrateUpCommand.self, MigrateDownCommand.self, MigrateStatusCommand.self]
    )
}
