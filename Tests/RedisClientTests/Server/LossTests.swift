import RedisClient
import TestSupport
import Testing

/// Loss of the server or of the connection.
@Suite struct LossTests {
    @Test func `Commands sent to a killed server fail as possibly executed, and the client reconnects after its restart`() async throws {
        let server = try await RedisServer.start()
        try await withClient(of: server) { client, prefix in
            try await server.pauseWrites()
            let errors = try await withThrowingTaskGroup(of: RedisError?.self) { group in
                let commands = [RedisCommand("SET", prefix, "x")] + Array(repeating: RedisCommand("PING"), count: 50)
                group.addTask { await redisError { try await client.pipeline(commands, timeout: .seconds(60)) } }
                try await server.waitUntilWriteBlocks()
                await server.kill()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors.count == 1)
            #expect(errors.allSatisfy { $0?.code == .connectionLost && $0?.mayHaveExecuted == true })
            try await server.restart()
            try await client.set(prefix, [1])
            #expect(try await client.get(prefix) == [1])
        }
        await server.stop()
    }

    @Test func `A command waits for a server that starts late`() async throws {
        let server = try await RedisServer.start()
        await server.kill()
        try await withClient(of: server, adjust: { $0.commandTimeout = .seconds(120) }) { client, _ in
            async let pong: Void = client.ping()
            try await server.restart()
            try await pong
        }
        await server.stop()
    }

    @Test func `Without a server a command fails within its limit, as not executed`() async throws {
        try await withClient(url: "unix:///tmp/hg-no-such-socket", adjust: { $0.commandTimeout = .seconds(600) }) { client, _ in
            let start = ContinuousClock.now
            let error = await redisError { try await client.ping(timeout: .milliseconds(150)) }
            #expect(error?.code == .connectionFailed)
            #expect(error?.mayHaveExecuted == false)
            #expect(error?.isRetryable == true)
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }

    @Test func `A task that waits for a connection can be cancelled`() async throws {
        try await withClient(url: "unix:///tmp/hg-no-such-socket") { client, _ in
            let task = Task { await redisError { try await client.ping(timeout: .seconds(60)) } }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveExecuted == false)
        }
    }

    @Test func `A connection that the server closes is made again without a command`() async throws {
        let server = try await RedisServer.start()
        try await withClient(of: server, adjust: { $0.clientName = "watched" }) { client, _ in
            let first = try #require(try await client.connectionNumber())
            try await server.cli("CLIENT", "KILL", "ID", String(first))
            try await eventually("the client is back") {
                try await server.cli("CLIENT", "LIST").contains("name=watched")
            }
            #expect(try await client.connectionNumber() != first)
        }
        await server.stop()
    }

    @Test func `The connection to a server that became a replica is replaced`() async throws {
        let server = try await RedisServer.start()
        try await withClient(of: server) { client, prefix in
            let first = try await client.connectionNumber()
            try await server.cli("REPLICAOF", "127.0.0.1", "1")
            let error = await redisError { try await client.set(prefix, [1]) }
            #expect(error?.code == .server(.readOnly))
            #expect(error?.isRetryable == true)
            try await server.cli("REPLICAOF", "NO", "ONE")
            try await client.set(prefix, [1])
            #expect(try await client.connectionNumber() != first)
        }
        await server.stop()
    }

    @Test func `Commands wait for a server that is loading its data`() async throws {
        let server = try await ScriptedServer.redis { connection, command in
            if connection == 0, command == 0 { return "-LOADING Redis is loading the dataset in memory\r\n" }
            return command < ScriptedServer.welcome.count ? ScriptedServer.welcome[command] : "+PONG\r\n"
        }
        try await withClient(url: server.redisURL) { client, _ in try await client.ping() }
    }

    @Test(arguments: ["$nonsense\r\n", "*1000000000\r\n", "+PONG\r\n+PONG\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "%1\r\n"])
    func `Invalid bytes from the server close the connection, and the client reconnects`(nonsense: String) async throws {
        let server = try await ScriptedServer.redis { connection in connection == 0 ? nonsense : "+PONG\r\n" }
        try await withClient(url: server.redisURL, adjust: { $0.stallTimeout = .milliseconds(300) }) { client, _ in
            _ = await redisError { try await client.ping() }
            try await eventually("a good connection") { await redisError { try await client.ping() } == nil }
        }
    }

    @Test func `A reply above the limit fails the command, and the next commands succeed`() async throws {
        try await withClient(of: try await .shared(), adjust: { $0.maxReplyBytes = 10_000 }) { client, prefix in
            try await client.set(prefix, Array(repeating: 7, count: 20_000))
            await expectRedisError(.replyTooLarge, mayHaveExecuted: true) { try await client.get(prefix) }
            #expect(try await client.send(RedisCommand("DEL", prefix)).integer == 1)
        }
    }

    @Test func `Shutdown lets sent commands finish and refuses later ones`() async throws {
        let server = try await RedisServer.start()
        var configuration = try RedisConfiguration(url: server.url)
        (configuration.commandTimeout, configuration.stallTimeout) = (.seconds(60), .seconds(120))
        configuration.drainTimeout = .seconds(60)
        let client = RedisClient(configuration: configuration, logger: .quiet)
        try await server.pauseWrites()
        async let slow: Void = client.set("k", [1])
        try await server.waitUntilWriteBlocks()
        async let end: Void = client.shutdown()
        try await server.resumeWrites()
        try await slow
        await end
        #expect(await redisError { try await client.ping() }?.code == .shutDown)
        #expect(await redisError { _ = try await client.dedicatedConnection() }?.code == .shutDown)
        await server.stop()
    }

    @Test func `Shutdown does not wait longer than the drain timeout`() async throws {
        let server = try await RedisServer.start()
        var configuration = try RedisConfiguration(url: server.url)
        configuration.drainTimeout = .milliseconds(100)
        let client = RedisClient(configuration: configuration, logger: .quiet)
        try await server.pauseWrites()
        let slow = Task { await redisError { try await client.set("k", [1]) } }
        try await server.waitUntilWriteBlocks()
        await client.shutdown()
        #expect(await slow.value?.mayHaveExecuted == true)
        await server.kill()
    }
}
