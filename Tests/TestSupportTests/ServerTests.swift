import Foundation
import Testing

@testable import TestSupport

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

    @Test func `a wait for a server that ends at its start throws its log`() async throws {
        let error = await #expect(throws: DeadlineExceeded.self) {
            _ = try await RedisServer.start(extraArguments: ["--no-such-setting", "1"])
        }
        #expect(error?.description.contains("it has ended before the server answers") == true)
        #expect(error?.description.contains("no-such-setting") == true, "\(error as Any)")
    }

    @Test func `a port is returned once, and is not one that the kernel assigns`() throws {
        let given = try (0..<100).map { _ in try FreePort.find() }
        #expect(Set(given).count == given.count)
        let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let ephemeral = try #require(range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) })
        #expect(ephemeral < 32_768 || given.allSatisfy { $0 < ephemeral })
    }

    @Test func `a port with a listener is not returned`() async throws {
        let free = try FreePort.find()
        let redis = try await RedisServer.start(tcp: true)
        let taken = try #require(redis.port)
        #expect(FreePort.isFree(UInt16(free)))
        #expect(!FreePort.isFree(UInt16(taken)))
        await redis.stop()
    }

    @Test func `a test has a database of its own, which is dropped afterwards`() async throws {
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
