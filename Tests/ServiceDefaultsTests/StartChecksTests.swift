import Logging
import PostgresClient
import Schema
import TestSupport
import Testing

@testable import ServiceDefaults

struct StartChecksTests {
    private static let protected = [
        "DATABASE_URL": "postgresql://u@db/x?sslmode=verify-full", "REDIS_URL": "rediss://redis",
    ]

    private func check(_ changes: [String: String]) throws {
        try StartChecks(Settings(environment: Self.protected.merging(changes) { $1 })).checkConnections()
    }

    @Test(arguments: [
        [:], ["DATABASE_URL": "postgresql://u@%2Frun%2Fpostgresql/x"], ["DATABASE_URL": "host=/run/postgresql dbname=x"],
        ["REDIS_URL": "unix:///run/redis.sock"], ["REDIS_URL": "rediss+sentinel://a:26379/master"],
        ["DATABASE_URL": "postgresql://u@db/x", "REDIS_URL": "redis://redis", "ALLOW_PLAINTEXT": "1"],
        ["DATABASE_URL": "postgresql://u@db/x", "REDIS_URL": "redis://redis", "ENVIRONMENT": "local"],
    ])
    func `encrypted and local connections are accepted, and plain ones where that is set`(changes: [String: String]) throws {
        try check(changes)
    }

    @Test(arguments: [
        "postgresql://u@db/x", "postgresql://u@db/x?sslmode=require", "postgresql://u@db/x?sslmode=verify-ca",
        "postgresql://u@%2Frun,db/x", "postgresql://u@/x?hostaddr=10.0.0.1",
    ])
    func `a database that is reached without a checked certificate is refused`(url: String) {
        let error = #expect(throws: ConfigurationError.self) { try check(["DATABASE_URL": url]) }
        #expect(error?.name == "DATABASE_URL")
    }

    @Test func `a direct address of the database is held to the same`() {
        #expect(throws: ConfigurationError.self) { try check(["DATABASE_DIRECT_URL": "postgresql://u@db/x"]) }
    }

    @Test(arguments: ["redis://redis", "redis+sentinel://a:26379/master", "redis+cluster://a,b"])
    func `a Redis without TLS is refused`(url: String) {
        let error = #expect(throws: ConfigurationError.self) { try check(["REDIS_URL": url]) }
        #expect(error?.name == "REDIS_URL")
    }

    @Test func `a superuser and owner is refused but on a developer's machine, and a service's role is accepted`() async throws {
        try await withServiceRoles { database, prefix in
            try await withClient(of: database) { client in
                await #expect(throws: ConfigurationError.self) { try await StartChecks(Settings(environment: [:])).checkRole(client) }
                try await StartChecks(Settings(environment: ["ENVIRONMENT": "local"])).checkRole(client)
            }
            for role in ServiceRole.allCases {
                try await withClient(of: database, as: role, prefix: prefix) { client in
                    try await StartChecks(Settings(environment: [:])).checkRole(client)
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `a pooler of transactions is noticed, unless the server behind it is named`(namesServer: Bool) async throws {
        try await withMigratedDatabase { database in
            let pooler = try await Pooler.start(for: database, connections: 4, ignoresOptions: true)
            var configuration = PostgresConfiguration(url: pooler.url)
            configuration.directURL = namesServer ? database.url : nil
            let client = try PostgresClient(configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await finally(client.shutdown) {
                let checks = try StartChecks(Settings(environment: ["ENVIRONMENT": "local"]))
                if namesServer { return try await checks.checkSessions(client) }
                let error = await #expect(throws: ConfigurationError.self) { try await checks.checkSessions(client) }
                #expect(error?.description.contains("DATABASE_DIRECT_URL") == true)
            }
        }
    }

    @Test(arguments: [1, 2])
    func `of several poolers that do not know each other is noticed that they cancel no statement`(poolers: Int) async throws {
        try await withServiceRoles { database, prefix in
            let role = ServiceRole.notifier.name(prefix: prefix)
            var running: [Pooler] = []
            for _ in 0..<poolers { running.append(try await Pooler.start(for: database, connections: 1, roles: [role])) }
            // Leads each new connection to the next pooler: first the statement's, then that of the request to cancel it.
            let proxy = try await FaultProxy.start(to: .tcp(port: running[0].port))
            try await proxy.share(among: running.map { .tcp(port: $0.port) })
            var configuration = PostgresConfiguration(url: "postgresql://\(role)@127.0.0.1:\(proxy.port)/\(database.name)")
            (configuration.directURL, configuration.maxConnections) = (database.connecting(as: role).url, 1)
            let client = try PostgresClient(configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await finally(client.shutdown) {
                let checks = try StartChecks(Settings(environment: ["DATABASE_DIRECT_URL": database.url]))
                #expect(try await checks.cancelsStatements(client) == (poolers == 1))
            }
            await proxy.stop()
            withExtendedLifetime(running) {}
        }
    }

    @Test(arguments: ServiceRole.allCases)
    func `a statement of a service beyond its time limit is cancelled`(role: ServiceRole) async throws {
        try await withMigratedDatabase { database in
            try await withClient(of: database.connecting(as: role.name())) { client in
                let checks = try StartChecks(Settings(environment: ["DATABASE_DIRECT_URL": database.url]))
                #expect(try await checks.cancelsStatements(client))
            }
        }
    }

    @Test func `connections to the server itself have sessions of their own`() async throws {
        try await withStorage { try await StartChecks(Settings(environment: [:])).checkSessions($0) }
    }

    /// Runs the check of limits through a pooler, as a service's role with some settings.
    private func checkLimits(_ change: String, _ environment: [String: String] = [:]) async throws {
        try await withServiceRoles { database, prefix in
            let role = ServiceRole.notifier.name(prefix: prefix)
            if !change.isEmpty { try await database.psql("ALTER ROLE \(role) \(change)") }
            let pooler = try await Pooler.start(for: database, connections: 1, roles: [role])
            var configuration = PostgresConfiguration(url: pooler.url(as: role))
            configuration.directURL = database.connecting(as: role).url
            let client = try PostgresClient(configuration: configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await finally(client.shutdown) {
                try await StartChecks(Settings(environment: environment)).checkLimits(client)
            }
        }
    }

    @Test(arguments: ["", "SET statement_timeout = '5s'"])
    func `sessions behind a pooler with the limits of the role, or shorter ones, are accepted`(change: String) async throws {
        try await checkLimits(change)
    }

    @Test(arguments: [
        "RESET ALL", "RESET statement_timeout", "SET idle_in_transaction_session_timeout = 0", "SET statement_timeout = '61s'",
    ])
    func `sessions behind a pooler without a limit are refused but on a developer's machine, with what to run`(change: String) async throws
    {
        let error = await #expect(throws: ConfigurationError.self) { try await checkLimits(change) }
        #expect(error?.description.contains("heliographctl migrate up --service-roles") == true)
        try await checkLimits(change, ["ENVIRONMENT": "local"])
    }
}
