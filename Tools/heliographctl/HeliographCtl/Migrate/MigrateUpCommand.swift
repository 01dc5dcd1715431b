internal import ArgumentParser
internal import CommandLineSupport
internal import PostgresClient
internal import Schema
internal import ServiceDefaults

/// Applies the pending migrations.
struct MigrateUpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Apply the migrations that are pending.",
        discussion: """
            Safe to run at every start: it does nothing when nothing is pending.

            With --service-roles it then gives each service a role of its own, such as heliograph_identity_api, with the \
            privileges that the service needs, and takes all others from these roles and from PUBLIC. Each session of such a role \
            gets \(SessionLimit.settingsOfServices.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")). Their \
            passwords are set from SERVICE_DB_PASSWORDS, or the file SERVICE_DB_PASSWORDS_FILE, with a line identity-api=… for each \
            service; without them they stay as they are. The role of this command must own the tables, and may create roles.
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: ArgumentHelp("Stop after this migration.", valueName: "number"))
    var to: Int?

    @Flag(name: .long, help: "Also create the roles of the services, and grant them what they need.")
    var serviceRoles = false

    @Option(name: .long, help: ArgumentHelp("The beginning of the roles' names.", valueName: "prefix"))
    var rolePrefix = ServiceRole.defaultPrefix

    mutating func validate() throws {
        if let to { try Migrations.check(number: to, from: 1) }
        guard !serviceRoles || to == nil || to == Migrations.latest else {
            throw ValidationError("--service-roles grants what the whole schema needs: leave --to out.")
        }
        guard ServiceRoles.isValid(prefix: rolePrefix) else {
            throw ValidationError("--role-prefix is 1 to 32 of a-z 0-9 _, and no digit first.")
        }
    }

    func run() async throws {
        let target = to ?? Migrations.latest
        let roles = serviceRoles ? ServiceRoles(prefix: rolePrefix, passwords: try passwords()) : nil
        try await database.withDatabase(queryTimeout: Migrations.stepTimeout) { client in
            let logger = ConsoleLogHandler.logger()
            var applied = 0
            for migration in HeliographSchema.migrations where migration.number <= target {
                let start = ContinuousClock.now
                let runner = try MigrationRunner(client: client, migrations: HeliographSchema.migrations, logger: logger)
                guard try await !runner.migrate(to: migration.number).isEmpty else { continue }
                applied += 1
                Console.current.result("applied \(migration.label)  \(elapsed(since: start))")
            }
            Console.current.note(
                applied == 0
                    ? "The schema is up to date." : "Applied \(applied) migration\(applied == 1 ? "" : "s").")
            if let roles {
                try await roles.apply(to: client)
                Console.current.note("The roles of the services have the privileges and limits of this version.")
            }
        }
    }

    private func passwords() throws -> ServicePasswords {
        try reporting {
            let name = "SERVICE_DB_PASSWORDS"
            guard let text = try Settings().optionalString(name, ServicePasswords.expectation) else { return ServicePasswords() }
            guard let passwords = ServicePasswords(parsing: text) else {
                throw ConfigurationError(name, "is not valid", expectation: ServicePasswords.expectation)
            }
            return passwords
        }
    }
}
