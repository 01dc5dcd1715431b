import RedisClient
import TestSupport
import Testing

@Suite struct CommandTests {
    @Test func `A value of any bytes is read as it was written`() async throws {
        try await withClient { client, prefix in
            var generator = SeededGenerator(seed: 1)
            let values = [[], [0], Array("\r\n".utf8), Array(0...255)] + (0..<20).map { _ in generator.bytes(upTo: 5000) }
            for (index, value) in values.enumerated() {
                try await client.set(prefix + String(index), value)
                #expect(try await client.get(prefix + String(index)) == value)
            }
            #expect(try await client.get(prefix + "none") == nil)
        }
    }

    @Test func `A value of several megabytes is read as it was written`() async throws {
        try await withClient { client, prefix in
            let value = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try await client.set(prefix, value)
            #expect(try await client.get(prefix) == value)
            _ = try await client.send(RedisCommand("DEL", prefix))
        }
    }

    @Test func `The replies of a pipeline are in the order of its commands`() async throws {
        try await withClient { client, prefix in
            let replies = try await client.pipeline((1...1000).map { RedisCommand("INCRBY", prefix, $0) })
            var sum = 0
            let expected = (1...1000).map { number -> Int in
                sum += number
                return sum
            }
            #expect(replies.map(\.integer) == expected)
        }
    }

    @Test func `An empty pipeline has no replies`() async throws {
        try await withClient { client, _ in
            let replies = try await client.pipeline([])
            #expect(replies.isEmpty)
        }
    }

    @Test func `Many tasks share the connection and each gets its own reply`() async throws {
        try await withClient { client, prefix in
            _ = try await race(200) { task in
                for round in 0..<10 {
                    let text = "\(prefix)\(task)/\(round)"
                    let reply = try await client.send(RedisCommand("ECHO", text))
                    #expect(reply.string == text)
                }
            }
        }
    }

    @Test func `A server's error is thrown with its code and leaves the connection usable`() async throws {
        try await withClient { client, prefix in
            try await client.set(prefix, [1])
            #expect(await redisError { try await client.send(RedisCommand("LPUSH", prefix, "x")) }?.code == .server(.wrongType))
            #expect(await redisError { try await client.send(RedisCommand("NOSUCHCOMMAND", "secret")) }?.code == .server(.err))
            #expect(try await client.get(prefix) == [1])
        }
    }

    @Test func `An error within a pipeline is in the reply of its command`() async throws {
        try await withClient { client, prefix in
            let replies = try await client.pipeline([
                RedisCommand("SET", prefix, "x"), RedisCommand("LPUSH", prefix, "y"), RedisCommand("GET", prefix),
            ])
            #expect(replies[0].string == "OK")
            #expect(replies[1].error?.code == .server(.wrongType))
            #expect(replies[2].string == "x")
        }
    }

    @Test func `An error inside an array reply does not fail the command`() async throws {
        try await withClient { client, prefix in
            let replies = try await client.pipeline([
                RedisCommand("MULTI"), RedisCommand("SET", prefix, "x"), RedisCommand("INCR", prefix), RedisCommand("GET", prefix),
                RedisCommand("EXEC"),
            ])
            let results = try #require(replies[4].array)
            #expect(results.map(\.kind) == [.status, .error, .bulkString])
            #expect(results[1].error?.code == .server(.err))
        }
    }

    @Test func `Commands above the limit fail at once, and those within it succeed`() async throws {
        try await withClient(of: try await .shared(), adjust: { $0.maxQueuedCommands = 10 }) { client, prefix in
            let pings = Array(repeating: RedisCommand("PING"), count: 11)
            await expectRedisError(.queueFull, mayHaveExecuted: false) { try await client.pipeline(pings) }
            for _ in 0..<3 {
                let replies = try await client.pipeline(pings.dropLast())
                #expect(replies.count == 10)
            }
        }
    }

    @Test func `Bytes above the limit fail at once`() async throws {
        try await withClient(of: try await .shared(), adjust: { $0.maxQueuedBytes = 1000 }) { client, prefix in
            #expect(await redisError { try await client.set(prefix, Array(repeating: 0, count: 1000)) }?.code == .queueFull)
            try await client.ping()
        }
    }
}
