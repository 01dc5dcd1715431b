public import ArgumentParser
import BuildVersion
import Foundation

/// The command line of all services: `run` (the default) and `healthcheck`.
public struct ServiceCommand<S: HeliographService>: AsyncParsableCommand {
    /// The command's name and help; without a subcommand the service runs.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: S.name, abstract: S.summary,
            discussion: """
                Settings come from the environment; each may also be a file, named by NAME_FILE. \
                docs/CONFIGURATION.md lists them all. SIGTERM ends running work within 25 seconds and then the process; \
                image-worker with a remote generator may take 195.
                """, version: HeliographVersion.current,
            subcommands: [Run.self, Healthcheck.self], defaultSubcommand: Run.self)
    }

    /// Creates the command; ArgumentParser calls it.
    public init() {}

    /// Runs the service until SIGTERM or SIGINT.
    public struct Run: AsyncParsableCommand {
        /// The help of `run`.
        public static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "run", abstract: "Run the service until SIGTERM or SIGINT.")
        }

        /// Creates the command; ArgumentParser calls it.
        public init() {}

        /// Runs the service until it has shut down.
        ///
        /// - Throws: `ExitCode` 78 (`EX_CONFIG`) for a wrong setting, which standard error names; else the error that ended the service.
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
        /// The help of `healthcheck`.
        public static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "healthcheck", abstract: "Exit with 0 if the service on ADMIN_PORT is ready, else with 1.")
        }

        @Option(help: "The path to request: /readyz, or /livez to ignore Redis and Postgres.")
        var path = "/readyz"

        /// Creates the command; ArgumentParser calls it.
        public init() {}

        /// Asks the service at 127.0.0.1 and `ADMIN_PORT`.
        ///
        /// - Throws: `ExitCode.failure` when it is not ready; ``ConfigurationError`` when `ADMIN_PORT` is no port.
        public mutating func run() async throws {
            let settings = Settings()
            let port = try settings.int("ADMIN_PORT", default: 9090, in: 1...65_535)
            guard HealthcheckClient.isOK(host: "127.0.0.1", port: port, path: path) else { throw ExitCode.failure }
        }
    }
}
