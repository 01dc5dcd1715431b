internal import ArgumentParser
internal import PostgresClient
internal import ServiceDefaults

/// How a command reaches the database.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The database, as a libpq URI or conninfo string.",
            discussion: "Without it DATABASE_DIRECT_URL of the environment counts, which passes by a pooler, or DATABASE_URL.",
            valueName: "url"))
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
    ///
    /// - Parameter queryTimeout: How long a query may take.
    func withDatabase(queryTimeout: Duration, _ body: (PostgresClient) async throws -> Void) async throws {
        let client = try PostgresClient(configuration: try configuration(queryTimeout), logger: .silent)
        do {
            try await waitUntilReady(client)
            try await body(client)
        } catch let error as PostgresError where error.isRetryable {
            await client.shutdown()
            Console.current.note("The database went away: \(error)")
            throw ExitCode.unavailable
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
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
            // Migrations hold a lock of their session, and a pooler has none to give.
            if let url = try settings.optionalString("DATABASE_DIRECT_URL") { return url }
            return try settings.string("DATABASE_URL", "a libpq URI, such as postgresql://user@host:5432/heliograph")
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
}
