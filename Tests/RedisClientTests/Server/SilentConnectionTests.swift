import RedisClient
import TestSupport
import Testing

/// Connections that stay open and fall silent while new ones work, as after a failover behind a proxy.
@Suite struct SilentConnectionTests {
    /// The time within which traffic is back; the limits of the clients are far below it.
    private static let patience = Duration.seconds(60)

    private func withProxy(
        _ body: (FaultProxy) async throws -> Void
    ) async throws {
        let proxy = try await FaultProxy.start(to: .unixSocket(path: try await RedisServer.shared().socket))
        try await finally(proxy.stop) { try await body(proxy) }
    }

    @Test func `The shared connection is replaced although each command on it fails before`() async throws {
        try await withProxy { proxy in
            let adjust = { (configuration: inout RedisConfiguration) in
                (configuration.stallTimeout, configuration.commandTimeout) = (.seconds(1), .milliseconds(300))
            }
            try await withClient(url: "redis://127.0.0.1:\(proxy.port)", adjust: adjust) { client, _ in
                try await eventually("a first command succeeds") { await redisError { try await client.ping() } == nil }
                try await proxy.freeze()
                try await eventually(within: Self.patience, "a command succeeds") { await redisError { try await client.ping() } == nil }
            }
        }
    }

    @Test func `A blocking read ends, its connection is closed, and the next one reads`() async throws {
        try await withProxy { proxy in
            try await withClient(url: "redis://127.0.0.1:\(proxy.port)") { client, stream in
                let id = try await client.xadd(stream, fields: [("a", [1])])
                let connection = try await client.dedicatedConnection()
                try await proxy.freeze()
                let start = ContinuousClock.now
                await expectRedisError(.timeout, mayHaveExecuted: true) {
                    try await connection.xread(streams: [(stream, .zero)], count: 1, block: .milliseconds(100))
                }
                await connection.waitUntilClosed()
                let batches = try await client.withDedicatedConnection {
                    try await $0.xread(streams: [(stream, .zero)], count: 1, block: .milliseconds(100))
                }
                #expect(batches.first?.entries.map(\.id) == [id])
                #expect(ContinuousClock.now - start < Self.patience)
            }
        }
    }

    @Test(.enabled("the server was built without TLS") { try await RedisServer.hasTLS })
    func `A connection with TLS does not wait for the good-bye of a silent server`() async throws {
        let server = try await RedisServer.start(tls: true)
        let proxy = try await FaultProxy.start(to: .tcp(port: try #require(server.port)))
        try await finally(proxy.stop) {
            let authority = try #require(server.certificates).authority
            try await withClient(url: "rediss://localhost:\(proxy.port)", adjust: { $0.caFile = authority }) { client, _ in
                let connection = try await client.dedicatedConnection()
                try await proxy.freeze()
                let start = ContinuousClock.now
                await connection.close()
                #expect(ContinuousClock.now - start < .seconds(4))
            }
        }
        await server.stop()
    }

    @Test func `With Sentinels the connection is replaced, past a Sentinel that is silent as well`() async throws {
        try await withProxy { proxy in
            let silent = try await ScriptedServer { connection in try await connection.waitForClose() }
            let port = "\(proxy.port)"
            let sentinel = try await ScriptedServer.redis { _ in "*2\r\n$9\r\n127.0.0.1\r\n$\(port.utf8.count)\r\n\(port)\r\n" }
            let url = "redis+sentinel://127.0.0.1:\(silent.port),127.0.0.1:\(sentinel.port)/main"
            try await withClient(url: url, adjust: { $0.stallTimeout = .seconds(1) }) { client, _ in
                try await client.ping()
                try await proxy.freeze()
                let start = ContinuousClock.now
                await expectRedisError(.connectionLost, mayHaveExecuted: true) { try await client.ping() }
                // Sentinels are asked in a random order: in four attempts one asks the silent one first with a probability of 15 of 16.
                for _ in 0..<4 {
                    try await client.ping()
                    try await client.withDedicatedConnection { try await $0.ping() }
                }
                #expect(ContinuousClock.now - start < Self.patience)
            }
        }
    }

    @Test func `The connections to all servers of a cluster are replaced, those that ask for the map included`() async throws {
        let cluster = try await RedisClusterServers.start(isProxied: true)
        try await withClient(url: cluster.url, adjust: { $0.stallTimeout = .seconds(1) }) { client, prefix in
            let keys = (0..<32).map { "\(prefix)\($0)" }
            let commands = keys.map { RedisCommand("INCR", $0) }
            #expect(try await client.pipeline(commands).allSatisfy { $0.integer == 1 })
            for master in cluster.masters { try await master.proxy?.freeze() }
            let start = ContinuousClock.now
            await expectRedisError(.connectionLost, mayHaveExecuted: true) { try await client.pipeline(commands) }
            #expect(try await client.pipeline(commands).allSatisfy { $0.error == nil })
            try await client.withDedicatedConnection { try await $0.ping() }
            #expect(ContinuousClock.now - start < Self.patience)
        }
    }
}
