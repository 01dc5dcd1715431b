import Logging
import RedisClient
import TestSupport
import Testing

@Suite struct FaultProxyTests {
    /// Runs a test with a client that reaches a Redis server only through a proxy.
    private static func withProxy(
        _ body: (FaultProxy, RedisClient, RedisServer) async throws -> Void
    ) async throws {
        let server = try await RedisServer.start()
        let proxy = try await FaultProxy.start(to: .unixSocket(path: server.socket))
        let quiet = Logger(label: "proxy") { _ in SwiftLogNoOpLogHandler() }
        let configuration = try RedisConfiguration(url: "redis://127.0.0.1:\(proxy.port)")
        let client = RedisClient(configuration: configuration, logger: quiet)
        try await body(proxy, client, server)
        await client.shutdown()
        await proxy.stop()
        await server.stop()
    }

    @Test func `flowing bytes arrive on both sides`() async throws {
        try await Self.withProxy { _, client, server in
            _ = try await client.send(RedisCommand("SET", "a", "1"))
            #expect(try await client.send(RedisCommand("GET", "a")).string == "1")
            #expect(try await server.cli("GET", "a").hasPrefix("1"))
        }
    }

    @Test func `new connections are led to several servers in turn`() async throws {
        let servers = [try await RedisServer.start(), try await RedisServer.start()]
        let proxy = try await FaultProxy.start(to: .unixSocket(path: servers[0].socket))
        try await proxy.share(among: servers.map { .unixSocket(path: $0.socket) })
        let quiet = Logger(label: "proxy") { _ in SwiftLogNoOpLogHandler() }
        for _ in 1...4 {
            let configuration = try RedisConfiguration(url: "redis://127.0.0.1:\(proxy.port)")
            let client = RedisClient(configuration: configuration, logger: quiet)
            _ = try await client.send(RedisCommand("INCR", "clients"))
            await client.shutdown()
        }
        for server in servers {
            #expect(try await server.cli("GET", "clients").hasPrefix("2"))
            await server.stop()
        }
        await proxy.stop()
    }

    @Test func `a held request arrives when the traffic flows again`() async throws {
        try await Self.withProxy { proxy, client, server in
            _ = try await client.send(RedisCommand("PING"))
            try await proxy.set(.held)
            async let answer = client.send(RedisCommand("SET", "a", "1"))
            #expect(try await server.cli("EXISTS", "a").hasPrefix("0"))
            try await proxy.set(.flowing)
            #expect(try await answer.string == "OK")
        }
    }

    @Test func `open connections fall silent for good while new ones work`() async throws {
        try await Self.withProxy { proxy, client, _ in
            _ = try await client.send(RedisCommand("PING"))
            try await proxy.freeze()
            try await proxy.set(.flowing)
            await #expect(throws: RedisError.self) { try await client.send(RedisCommand("PING"), timeout: .milliseconds(50)) }
            let quiet = Logger(label: "proxy") { _ in SwiftLogNoOpLogHandler() }
            let other = RedisClient(configuration: try RedisConfiguration(url: "redis://127.0.0.1:\(proxy.port)"), logger: quiet)
            #expect(try await other.send(RedisCommand("PING")).string == "PONG")
            await other.shutdown()
        }
    }

    @Test func `a request takes effect although its reply is held`() async throws {
        try await Self.withProxy { proxy, client, server in
            _ = try await client.send(RedisCommand("PING"))
            try await proxy.set(.repliesHeld)
            async let answer = client.send(RedisCommand("SET", "a", "1"))
            try await eventually("the server has it") { try await server.cli("EXISTS", "a").hasPrefix("1") ? () : nil }
            try await proxy.set(.flowing)
            #expect(try await answer.string == "OK")
        }
    }

    @Test func `a reply arrives after its delays`() async throws {
        try await Self.withProxy { proxy, client, _ in
            _ = try await client.send(RedisCommand("PING"))
            try await proxy.set(.delayed(.milliseconds(100)))
            let start = ContinuousClock.now
            _ = try await client.send(RedisCommand("PING"))
            #expect(ContinuousClock.now - start >= .milliseconds(200))
        }
    }

    @Test func `after a cut the client reconnects, to the proxy's current target`() async throws {
        try await Self.withProxy { proxy, client, first in
            let second = try await RedisServer.start()
            _ = try await client.send(RedisCommand("SET", "where", "first"))
            try await second.cli("SET", "where", "second")
            try await proxy.point(to: .unixSocket(path: second.socket))
            #expect(try await client.send(RedisCommand("GET", "where")).string == "first")
            try await proxy.cut()
            try await eventually("the second server answers") {
                (try? await client.send(RedisCommand("GET", "where")))?.string == "second" ? () : nil
            }
            #expect(try await first.cli("GET", "where").hasPrefix("first"))
            await second.stop()
        }
    }
}
