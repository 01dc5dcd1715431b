import PostgresClient
import TestSupport

/// Runs `body` with a migrated database of its own that also has a table for the effects of handlers.
func withEffects(_ body: (PostgresClient, TestDatabase) async throws -> Void) async throws {
    try await withMigratedDatabase { database in
        try await withClient(of: database) { client in
            try await client.execute("CREATE TABLE effects (at bigserial, number bigint NOT NULL)")
            try await body(client, database)
        }
    }
}

extension PostgresQueryable {
    /// Stores the effect of a message.
    func addEffect(_ number: Int) async throws {
        try await execute("INSERT INTO effects (number) VALUES (\(Int64(number)))")
    }

    /// Returns the stored effects in order.
    func effects() async throws -> [Int] {
        try await query("SELECT number FROM effects ORDER BY at").map { Int(try $0.decode("number", as: Int64.self)) }
    }

    func count(_ table: String) async throws -> Int {
        let rows = try await query("SELECT count(*) AS rows FROM \(identifier: table)")
        return Int(try rows[0].decode("rows", as: Int64.self))
    }
}

/// Runs a service while `body` runs, and cancels it afterwards.
func withRunning(
    _ run: @escaping @Sendable () async throws -> Void, _ body: () async throws -> Void
) async throws {
    let task = Task { try await run() }
    do {
        try await body()
        task.cancel()
        _ = await task.result
    } catch {
        task.cancel()
        _ = await task.result
        throw error
    }
}
