internal import ArgumentParser
internal import CommandLineSupport
internal import PostgresClient
internal import ServiceDefaults

/// The options for the connection to the database.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The database, as a libpq URI or conninfo string.",
            discussion: "Default: DATABASE_DIRECT_URL of the environment, which bypasses a pooler, or DATABASE_URL.",
            valueName: "url"))
    var databaseURL: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The seconds to wait for the database to come up.",
            discussion: "0 tries for two seconds.",
            valueName: "seconds"))
    var wait: Int = 0

    /// Timeout of a query, where a command sets no other.
    static let queryTimeout: Duration = .seconds(10)

    mutating func validate() throws {
        guard (0...3600).contains(wait) else { throw ValidationError("--wait is 0 to 3600 seconds.") }
    }

    /// Runs `body` with a client of the database, once the database answers.
    ///
    /// - Parameter queryTimeout: Timeout of a query.
    @discardableResult
    func withDatabase<Value>(
        queryTimeout: Duration = Self.queryTimeout, _ body: (PostgresClient) async throws -> Value
    ) async throws -> Value {
        let client = try PostgresClient(configuration: try configuration(queryTimeout), logger: .silent)
        let value: Value
        do {
            try await waitUntilReady(client)
            value = try await body(client)
        } catch let error as PostgresError where error.isRetryable {
            await client.shutdown()
            Console.current.note("The database did not finish this; it may be tried again: \(error)")
            throw ExitCode.unavailable
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
        return value
    }

    private func configuration(_ queryTimeout: Duration) throws -> PostgresConfiguration {
        var configuration = PostgresConfiguration(url: try url())
        configuration.applicationName = "heliographctl"
        configuration.maxConnections = 2
        configuration.connectTimeout = .seconds(5)
        configuration.queryTimeout = queryTimeout
        configuration.statementTimeout = .zero
        return configuration
    }

    private func url() throws -> String {
        if let databaseURL, !databaseURL.isEmpty { return databaseURL }
        return try reporting(hint: "--database-url") {
            let settings = Settings()
            // Migrations hold a session-level lock, which a transaction pooler cannot provide.
            if let url = try settings.optionalString("DATABASE_DIRECT_URL") { return url }
            return try settings.string("DATABASE_URL", "a libpq URI, such as postgresql://user@host:5432/heliograph")
        }
    }

    private func waitUntilReady(_ client: PostgresClient) async throws {
        let deadline = ContinuousClock.now + .seconds(wait)
        var hasNotedWait = false
        while true {
            let probe: PostgresQuery = "SELECT 1"
            do {
                _ = try await client.query(probe.timeout(.seconds(2)))
                return
            } catch  where error.isRetryable && ContinuousClock.now < deadline {
                if !hasNotedWait { Console.current.note("Waiting up to \(wait) s for the database …") }
                hasNotedWait = true
                try await Task.sleep(for: .milliseconds(200))
            } catch {
                Console.current.note("The database cannot be reached: \(error)")
                if wait == 0, error.isRetryable { Console.current.note("If it is just starting, use --wait 30.") }
                throw ExitCode.unavailable
            }
        }
    }
}
