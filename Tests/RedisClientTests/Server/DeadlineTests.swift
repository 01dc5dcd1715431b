import RedisClient
import Synchronization
import TestSupport
import Testing

/// Time limits and cancellation. While writes are paused the server answers neither a write nor the commands behind it.
@Suite struct DeadlineTests {
    @Test func `A late reply fails only its own command, and the next command gets its own reply`() async throws {
        let server = try await RedisServer.start()
        try await withClient(of: server) { client, key in
            let connection = try await client.connectionNumber()
            try await server.pauseWrites()
            let error = await redisError { try await client.send(RedisCommand("SET", key, "x"), timeout: .milliseconds(50)) }
            #expect(error?.code == .timeout)
            #expect(error?.mayHaveExecuted == true)
            async let next = client.send(RedisCommand("ECHO", "next"), timeout: .seconds(60))
            try await server.resumeWrites()
            #expect(try await next.string == "next")
            #expect(try await client.connectionNumber() == connection)
        }
        await server.stop()
    }

    @Test func `A time limit holds behind a command with a longer one`() async throws {
        let server = try await RedisServer.start()
        try await withClient(of: server) { client, key in
            try await server.pauseWrites()
            async let patient = client.send(RedisCommand("SET", key, "x"), timeout: .seconds(60))
            try await server.waitUntilWriteBlocks()
            #expect(await redisError { try await client.ping(timeout: .milliseconds(50)) }?.code == .timeout)
            try await server.resumeWrites()
            #expect(try await patient.string == "OK")
        }
        await server.stop()
    }

    @Test func `A connection without received bytes is replaced`() async throws {
        // Counts pings and not connections, because a connection whose log-in takes too long is replaced as well.
        let pings = Atomic(0)
        let server = try await ScriptedServer.redis { _ in
            pings.add(1, ordering: .relaxed).oldValue == 0 ? nil : "+PONG\r\n"
        }
        try await withClient(url: server.redisURL, adjust: { $0.stallTimeout = .milliseconds(200) }) { client, _ in
            await expectRedisError(.connectionLost, mayHaveExecuted: true) { try await client.ping(timeout: .seconds(30)) }
            try await eventually("a good connection") { await redisError { try await client.ping() } == nil }
        }
    }

    @Test func `A server that accepts connections and does not answer does not delay a command beyond its limit`() async throws {
        let server = try await ScriptedServer.redis { _, _ in nil }
        try await withClient(url: server.redisURL, adjust: { $0.connectTimeout = .milliseconds(100) }) { client, _ in
            await expectRedisError(.connectionFailed, mayHaveExecuted: false) { try await client.ping(timeout: .milliseconds(350)) }
        }
    }

    @Test func `A cancelled command fails at once, and the others get their own replies`() async throws {
        let server = try await RedisServer.start()
        try await withClient(of: server) { client, key in
            let connection = try await client.connectionNumber()
            try await server.pauseWrites()
            let doomed = Task { await redisError { try await client.set(key, [1]) } }
            try await server.waitUntilWriteBlocks()
            async let other = client.send(RedisCommand("ECHO", "other"), timeout: .seconds(60))
            doomed.cancel()
            let error = await doomed.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveExecuted == true)
            try await server.resumeWrites()
            #expect(try await other.string == "other")
            #expect(try await client.connectionNumber() == connection)
        }
        await server.stop()
    }

    @Test func `Cancelling at any moment ends every command exactly once`() async throws {
        try await withClient { client, prefix in
            try await race(500) { number in
                let task = Task { try await client.send(RedisCommand("ECHO", "\(number)")) }
                for _ in 0..<(number % 7) { await Task.yield() }
                task.cancel()
                switch await task.result {
                case .success(let reply): #expect(reply.string == "\(number)")
                case .failure(let error): #expect((error as? RedisError)?.code == .cancelled)
                }
            }
            #expect(try await client.send(RedisCommand("ECHO", "end")).string == "end")
        }
    }

    @Test func `A task that is already cancelled sends nothing`() async throws {
        try await withClient { client, prefix in
            try await client.ping()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await redisError { try await client.set(prefix, [1]) }
            }
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveExecuted == false)
            #expect(try await client.get(prefix) == nil)
        }
    }
}
