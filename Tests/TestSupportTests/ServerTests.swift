import TestSupport
import Testing

@Suite struct ServerTests {
    @Test func `a Redis server starts, answers, survives a kill and stops`() async throws {
        let server = try await RedisServer.start(persistence: .appendOnly)
        try await server.cli("SET", "a", "1")
        await server.stop()
        try await server.restart()
        let value = try await server.cli("GET", "a")
        #expect(value.hasPrefix("1"))
        let pid = server.pid
        await server.kill()
        #expect(server.pid == pid)
        await #expect(throws: CommandLineTool.Failure.self) { _ = try await server.cli("PING") }
    }

    @Test func `a test has a database of its own, which is gone afterwards`() async throws {
        let name = try await withEmptyDatabase { database in
            let current = try await database.psql("SELECT current_database()")
            #expect(current == database.name)
            return database.name
        }
        let server = try await PostgresServer.shared()
        let left = try await server.psql("SELECT count(*) FROM pg_database WHERE datname = '\(name)'")
        #expect(left == "0")
    }

    @Test func `a Postgres server keeps committed rows across a crash`() async throws {
        let server = try await PostgresServer.start()
        try await server.psql("CREATE TABLE a AS SELECT 1 AS b")
        await server.kill()
        try await server.start()
        let value = try await server.psql("SELECT b FROM a")
        #expect(value == "1")
        await server.stop()
    }
}
