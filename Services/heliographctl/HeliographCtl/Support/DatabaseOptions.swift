internal import ArgumentParser
internal import Foundation
internal import Logging
internal import PostgresClient

/// How a command reaches the database.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The database, as a libpq URI or conninfo string.",
            discussion: "Without it the environment variable DATABASE_URL counts.", valueName: "url"))
    var databaseURL: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How many seconds to wait for the database to come up.",
            discussion: "0 tries once. A database that refuses the name or the password is not waited for.",
            valueName: "seconds"))
    var wait: Int = 0

    mutating func validate() throws {
        guard (0...3600).contains(wait) else { throw ValidationError("--wait is 0 to 3600 seconds.") }
    }

    /// Runs `body` with a client of the database, once the database answers.
    func withDatabase(_ body: (PostgresClient) async throws -> Void) async throws {
        let client = try PostgresClient(configuration: try configuration(), logger: Self.silentLogger)
        do {
            try await waitUntilReady(client)
            try await body(client)
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
    }

    private func configuration() throws -> PostgresConfiguration {
        let url = databaseURL ?? ProcessInfo.processInfo.environment["DATABASE_URL"] ?? ""
        guard !url.isEmpty else {
            Console.current.note(
                "No database: set DATABASE_URL or pass --database-url, e.g. postgresql://user@127.0.0.1:5432/heliograph")
            throw ExitCode.configuration
        }
        var configuration = PostgresConfiguration(url: url)
        configuration.applicationName = "heliographctl"
        configuration.maxConnections = 2
        configuration.connectTimeout = .seconds(5)
        // A migration may rewrite a table: no statement of an operator is stopped by the clock.
        configuration.queryTimeout = .seconds(24 * 60 * 60)
        configuration.statementTimeout = .zero
        return configuration
    }

    private func waitUntilReady(_ client: PostgresClient) async throws {
        let deadline = ContinuousClock.now + .seconds(wait)
        var hasSaidSo = false
        while true {
            let probe: PostgresQuery = "SELECT 1"
            do {
                _ = try await client.query(probe.timeout(.seconds(2)))
                return
            } catch where error.isRetryable && ContinuousClock.now < deadline {
                if !hasSaidSo { Console.current.note("Waiting up to \(wait) s for the database …") }
                hasSaidSo = true
                try await Task.sleep(for: .milliseconds(200))
            } catch {
                Console.current.note("The database cannot be reached: \(error)")
                if wait == 0, error.isRetryable { Console.current.note("If it is just starting, use --wait 30.") }
                throw ExitCode.unavailable
            }
        }
    }

    /// What happened is told by the command itself; a library's log lines would only disturb its output.
    private static var silentLogger: Logger {
        Logger(label: "heliographctl", factory: { _ in SwiftLogNoOpLogHandler() })
    }
}
