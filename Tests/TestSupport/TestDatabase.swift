import Foundation

/// A database that one test has to itself.
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

    /// Runs SQL through `psql` and gives unaligned rows.
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
    defer { databaseSlots.giveBack() }
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

/// The number of tests that have a database at once: every test runs in parallel with all others, and each has a pool of connections and
/// a process or two.
private let databaseSlots = Slots(count: 12)
