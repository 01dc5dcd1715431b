import Logging
public import PostgresClient
internal import Schema

/// Runs `body` with a database of its own in which every migration has been applied, and in which each service has its role, of the
/// usual name.
///
/// The migrations run once per process, in a template that is then copied.
public func withMigratedDatabase<Result>(_ body: (TestDatabase) async throws -> Result) async throws -> Result {
    try await withSharedServerDatabase(template: try await migratedTemplate.value, body)
}

/// Runs `body` with such a database on a server of the test's own, which the test may crash.
public func withMigratedDatabase<Result>(
    on server: PostgresServer, _ body: (TestDatabase) async throws -> Result
) async throws -> Result {
    try await withDatabase(on: server, template: "template1") { database in
        try await withClient(of: database) { client in
            _ = try await MigrationRunner(client: client, migrations: HeliographSchema.migrations).migrate()
            try await ServiceRoles().apply(to: client)
        }
        return try await body(database)
    } execute: {
        try await server.psql($0)
    }
}

/// Runs `body` with a client of a database of its own in which every migration has been applied.
public func withStorage(_ body: (PostgresClient) async throws -> Void) async throws {
    try await withMigratedDatabase { database in
        try await withClient(of: database, body)
    }
}

/// Runs `body` with a client of the database, which is shut down afterwards.
public func withClient(
    of database: TestDatabase, maxConnections: Int = 4, _ body: (PostgresClient) async throws -> Void
) async throws {
    try await withClient(url: database.url, maxConnections: maxConnections, body)
}

private func withClient(
    url: String, maxConnections: Int, _ body: (PostgresClient) async throws -> Void
) async throws {
    var logger = Logger(label: "tests")
    logger.logLevel = .error
    var configuration = PostgresConfiguration(url: url)
    configuration.maxConnections = maxConnections
    let client = try PostgresClient(configuration: configuration, logger: logger)
    do {
        try await body(client)
    } catch {
        await client.shutdown()
        throw error
    }
    await client.shutdown()
}

private let migratedTemplate = Task {
    let name = "migrated_template"
    let server = try await PostgresServer.shared()
    try await server.psql("CREATE DATABASE \(name)")
    try await withClient(url: server.url(database: name), maxConnections: 1) { client in
        _ = try await MigrationRunner(client: client, migrations: HeliographSchema.migrations).migrate()
        try await ServiceRoles().apply(to: client)
    }
    // A database can be copied only while it has no connections; the last backend ends with a delay.
    try await eventually("the template is let go of") {
        try await server.psql("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)'") == "0"
    }
    return name
}
