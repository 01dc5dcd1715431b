import Foundation

/// A database of one test.
public struct TestDatabase: Sendable {
    /// The libpq URI to connect with.
    public let url: String
    /// The name of the database.
    public let name: String
    /// The server it is on.
    public let server: PostgresServer

    public init(url: String, name: String, server: PostgresServer) {
        self.url = url
        self.name = name
        self.server = server
    }

    /// Runs SQL with `psql` and returns unaligned rows.
    @discardableResult
    public func psql(_ sql: String) async throws -> String { try await server.psql(sql, database: name) }
}

/// Runs `body` with an empty database of its own on the shared server, and drops it afterwards.
public func withEmptyDatabase<Result>(_ body: (TestDatabase) async throws -> Result) async throws -> Result {
    let server = try await PostgresServer.shared()
    return try await withDatabase(on: server, template: "template1", body)
}

func withDatabase<Result>(
    on server: PostgresServer, template: String, _ body: (TestDatabase) async throws -> Result
) async throws -> Result {
    await databaseSlots.take()
    defer { databaseSlots.release() }
    let name = "t_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "_")
    try await server.psql("CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY file_copy")
    do {
        let result = try await body(TestDatabase(url: server.url(database: name), name: name, server: server))
        _ = try? await server.psql("DROP DATABASE \(name) WITH (FORCE)")
        return result
    } catch {
        _ = try? await server.psql("DROP DATABASE \(name) WITH (FORCE)")
        throw error
    }
}

/// The most tests that have a database at the same time: all tests run in parallel, and each of these has a pool of connections
/// and one or two processes.
private let databaseSlots = Slots(count: 12)
