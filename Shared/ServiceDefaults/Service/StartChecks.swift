internal import PostgresClient
internal import RedisClient

/// Where a service runs (`ENVIRONMENT`).
enum DeploymentEnvironment: String, CaseIterable {
    /// A developer's machine: no checks are made.
    case local
    case production
}

/// The faults with which a service refuses to start, except on a developer's machine.
struct StartChecks: Sendable {
    private let settings: Settings
    private let environment: DeploymentEnvironment
    private let allowsPlaintext: Bool

    init(_ settings: Settings) throws(ConfigurationError) {
        self.settings = settings
        environment = try settings.choice(
            "ENVIRONMENT", default: DeploymentEnvironment.production,
            about: "`local` is a developer's machine: there a service starts without TLS to Postgres and Redis, and as any role")
        allowsPlaintext =
            try settings.int(
                "ALLOW_PLAINTEXT", default: 0, in: 0...1,
                about: "1 allows connections to Postgres and Redis without TLS, for servers on a network of their own") == 1
    }

    /// Checks that nothing is sent in plain text; Unix sockets need no TLS.
    func checkConnections() throws(ConfigurationError) {
        guard environment == .production, !allowsPlaintext else { return }
        if let url = try settings.optionalString("DATABASE_URL") {
            var postgres = PostgresConfiguration(url: url)
            postgres.directURL = try settings.optionalString("DATABASE_DIRECT_URL")
            guard postgres.isProtected else {
                throw ConfigurationError(
                    "DATABASE_URL", "allows plain text or an unknown server",
                    expectation: "with sslmode=verify-full, as DATABASE_DIRECT_URL (or ALLOW_PLAINTEXT=1, or ENVIRONMENT=local)")
            }
        }
        let redis = try RedisConfiguration(settings)
        if case .unixSocket = redis.endpoint { return }
        guard redis.tls else {
            throw ConfigurationError(
                "REDIS_URL", "is without TLS",
                expectation: "rediss://, rediss+sentinel:// or rediss+cluster:// (or ALLOW_PLAINTEXT=1, or ENVIRONMENT=local)")
        }
    }

    /// Checks that the role of the service in Postgres is no superuser and owns no table.
    ///
    /// - Throws: ``ConfigurationError`` when it is; `PostgresError` when the server cannot be asked.
    func checkRole(_ postgres: PostgresClient) async throws {
        guard environment == .production else { return }
        let query: PostgresQuery = """
            SELECT current_setting('is_superuser') = 'on' OR EXISTS (
                SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                  AND pg_has_role(relowner, 'USAGE')) AS is_owner
            """
        guard try await postgres.query(query.readOnly().timeout(.seconds(5))).first?.decode("is_owner", as: Bool.self) == true else {
            return
        }
        throw ConfigurationError(
            "DATABASE_URL", "has a role that is a superuser or owns tables",
            expectation: "with the service's own role (`heliographctl migrate up --service-roles`), or ENVIRONMENT=local")
    }

    /// Checks that `DATABASE_URL` leads to no pooler of transactions, unless `DATABASE_DIRECT_URL` names the server behind it.
    ///
    /// - Throws: ``ConfigurationError`` when it does; `PostgresError` when the server cannot be asked.
    func checkSessions(_ postgres: PostgresClient) async throws {
        do { try await postgres.checkSessions() } catch let error as PostgresError where error.code == .configuration {
            throw ConfigurationError(
                "DATABASE_URL", "leads to a pooler of transactions",
                expectation: "together with DATABASE_DIRECT_URL, the address of the server itself")
        }
    }

    /// Returns whether a statement beyond its time limit is cancelled. The request to cancel it has a connection of its own, which may lead
    /// to another one of several poolers than the statement.
    ///
    /// Without a pooler nothing is asked. A request may also lead to the right pooler by chance.
    ///
    /// - Throws: `PostgresError` when the server cannot be asked, ``ConfigurationError`` for a setting that cannot be read.
    func cancelsStatements(_ postgres: PostgresClient) async throws -> Bool {
        guard environment == .production, try settings.optionalString("DATABASE_DIRECT_URL") != nil else { return true }
        // Longer than the pool waits for the cancellation, and no longer: a statement that is not cancelled goes on without this process.
        let query: PostgresQuery = "SELECT pg_sleep(5)"
        do throws(PostgresError) {
            try await postgres.execute(query.timeout(.milliseconds(200)))
            return true
        } catch {
            switch error.code {
            case .timeout: return true
            // The pool closes a connection on which a statement goes on.
            case .connectionLost: return false
            default: throw error
            }
        }
    }

    /// Checks that the server ends statements and idle transactions of the connections for work, which may be a pooler's.
    ///
    /// - Throws: ``ConfigurationError`` when it does not; `PostgresError` when the server cannot be asked.
    func checkLimits(_ postgres: PostgresClient) async throws {
        guard environment == .production else { return }
        let missing = try await SessionLimit.missing(in: postgres)
        guard !missing.isEmpty else { return }
        let limits = missing.map { "\($0.setting) of \($0.value)" }.joined(separator: " and ")
        throw ConfigurationError(
            "DATABASE_URL", "leads to sessions without \(limits)",
            expectation: "with a role that has these limits (`heliographctl migrate up --service-roles`, then RECONNECT of the pooler)")
    }
}
