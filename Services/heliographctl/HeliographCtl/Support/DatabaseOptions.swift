internal import ArgumentParser
internal import Logging
internal import PostgresClient
internal import ServiceDefaults

/// How a command reaches the database.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The database, as a libpq URI or conninfo string.",
            discussion: "Without it DATABASE_URL of the environment counts, or the file that DATABASE_URL_FILE names.", valueName: "url"))
    var databaseURL: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How many seconds to wait for the database to come up.",
            discussion: "0 tries for two seconds.",
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
        var configuration = PostgresConfiguration(url: try url())
        configuration.applicationName = "heliographctl"
        configuration.maxConnections = 2
        configuration.connectTimeout = .seconds(5)
        // A migration may rewrite a table: no statement of an operator is stopped by the clock.
        configuration.queryTimeout = .seconds(24 * 60 * 60)
        configuration.statementTimeout = .zero
        return configuration
    }

    private func url() throws -> String {
        if let databaseURL, !databaseURL.isEmpty { return databaseURL }
        do {
            return try Settings().string("DATABASE_URL", "a libpq URI, such as postgresql://user@host:5432/heliograph")
        } catch {
            Console.current.note("\(error) (or pass --database-url)")
            throw ExitCode.configuration
        }
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
