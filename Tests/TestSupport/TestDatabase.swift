import Foundation
import Logging
import PostgresClient

/// A database of one test.
public struct TestDatabase: Sendable {
    /// The libpq URI to connect with.
    public let url: String
    /// The name of the database.
    public let name: String
    /// The server it is on.
    public let server: PostgresServer

    /// Names a database that exists on a server; `url` decides the role by which it is used.
    public init(url: String, name: String, server: PostgresServer) {
        self.url = url
        self.name = name
        self.server = server
    }

    /// Returns the same database with a URI that has another role. ``psql(_:)`` stays the superuser's.
    public func connecting(as user: String) -> TestDatabase {
        TestDatabase(url: server.url(database: name, user: user), name: name, server: server)
    }

    /// Runs SQL with `psql` and returns unaligned rows.
    @discardableResult
    public func psql(_ sql: String) async throws -> String { try await server.psql(sql, database: name) }

    /// Returns its schema and rows as `pg_dump` writes them.
    public func dump() async throws -> String { try await server.dump(database: name) }
}

/// Runs `body` with an empty database of its own on the shared server, and drops it afterwards.
public func withEmptyDatabase<Result>(_ body: (TestDatabase) async throws -> Result) async throws -> Result {
    try await withSharedServerDatabase(template: "template1", body)
}

/// Runs `body` with a copy of a database of the shared server.
func withSharedServerDatabase<Result>(template: String, _ body: (TestDatabase) async throws -> Result) async throws -> Result {
    let (server, client) = (try await PostgresServer.shared(), try await administration.value)
    return try await withDatabase(on: server, template: template, body) { try await client.execute(PostgresQuery(unescaped: $0)) }
}

/// Runs `body` with a copy of a database of a server.
///
/// - Parameter execute: Executes the statements that create and drop the copy.
func withDatabase<Result>(
    on server: PostgresServer, template: String, _ body: (TestDatabase) async throws -> Result,
    execute: (String) async throws -> Void
) async throws -> Result {
    await databaseSlots.take()
    defer { databaseSlots.release() }
    let name = "t_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "_")
    // A copy of the files takes half of the time of a copy through the log.
    try await execute("CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY file_copy")
    do {
        let result = try await body(TestDatabase(url: server.url(database: name), name: name, server: server))
        // What a server has not recorded that its test has stopped counts as not run.
        try? await StatementRecording.current?.record(database: name, execute: execute)
        try? await execute("DROP DATABASE \(name) WITH (FORCE)")
        return result
    } catch {
        try? await execute("DROP DATABASE \(name) WITH (FORCE)")
        throw error
    }
}

/// The client that creates and drops the databases of the shared server: to start `psql` takes five times as long as the statement.
private let administration = Task {
    var configuration = PostgresConfiguration(url: try await PostgresServer.shared().url())
    configuration.queryTimeout = .seconds(120)
    // A statement that takes the place of another one is sent together with its removal, and no database can be created in a batch.
    configuration.maxPreparedStatements = 1_000_000
    return try PostgresClient(configuration: configuration, logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
}

/// The most tests that have a database at the same time: all tests run in parallel, and each of these has a pool of connections
/// and one or two processes.
private let databaseSlots = Slots(count: 12)
