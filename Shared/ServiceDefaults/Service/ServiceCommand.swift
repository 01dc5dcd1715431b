public import ArgumentParser
import BuildVersion
import Foundation

/// The command line of all services: `run` (the default) and `healthcheck`.
public struct ServiceCommand<S: HeliographService>: AsyncParsableCommand {
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: S.name, abstract: S.summary,
            discussion: """
                Settings come from the environment; each may also be a file, named by NAME_FILE. \
                docs/CONFIGURATION.md lists them all. SIGTERM ends running work within 25 seconds and then the process.
                """, version: HeliographVersion.current,
            subcommands: [Run.self, Healthcheck.self], defaultSubcommand: Run.self)
    }

    public init() {}

    /// Runs the service until SIGTERM or SIGINT.
    public struct Run: AsyncParsableCommand {
        public static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "run", abstract: "Run the service until SIGTERM or SIGINT.")
        }

        public init() {}

        public mutating func run() async throws {
            do {
                try await ServiceRunner.run(S.self)
            } catch let error as ConfigurationError {
                FileHandle.standardError.write(Data("\(S.name): \(error)\n".utf8))
                throw ExitCode(78)  // EX_CONFIG of sysexits.h
            }
        }
    }

    /// Exits with 0 when the running service reports that it is ready.
    public struct Healthcheck: AsyncParsableCommand {
        public static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "healthcheck", abstract: "Exit with 0 if the service on ADMIN_PORT is ready, else with 1.")
        }

        @Option(help: "The path to request: /readyz, or /livez to ignore Redis and Postgres.")
        var path = "/readyz"

        public init() {}

        public mutating func run() async throws {
            let settings = Settings()
            let port = try settings.int("ADMIN_PORT", default: 9090, in: 1...65_535)
            guard HealthcheckClient.isOK(host: "127.0.0.1", port: port, path: path) else { throw ExitCode.failure }
        }
    }
}
