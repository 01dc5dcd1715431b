import RedisClient
import TestSupport
import Testing

/// Blocking reads on dedicated connections.
@Suite struct BlockingTests {
    private let fields: [(name: String, value: [UInt8])] = [("a", [1])]

    @Test func `A blocking read returns when an entry arrives, and does not delay other commands`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            try await client.withDedicatedConnection { connection in
                async let read = connection.xreadgroup(
                    group: "g", consumer: "c", streams: [stream], count: 10, block: .seconds(60))
                try await waitUntilBlocked(connection, client)
                let id = try await client.xadd(stream, fields: fields)
                #expect(try await read.batches.first?.entries.map(\.id) == [id])
            }
        }
    }

    @Test func `A blocking read returns nothing when its time runs out`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            try await client.withDedicatedConnection { connection in
                let read = try await connection.xreadgroup(
                    group: "g", consumer: "c", streams: [stream], count: 10, block: .milliseconds(30))
                #expect(read.batches.isEmpty)
                #expect(try await connection.xread(streams: [(stream, .zero)], count: 1, block: .milliseconds(30)).isEmpty)
            }
        }
    }

    @Test func `The last batch is acknowledged in the same write as the next read`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            for _ in 0..<4 { try await client.xadd(stream, fields: fields) }
            try await client.withDedicatedConnection { connection in
                let first = try await connection.xreadgroup(
                    group: "g", consumer: "c", streams: [stream], count: 2, block: .seconds(60))
                let second = try await connection.xreadgroup(
                    group: "g", consumer: "c", streams: [stream], count: 2, block: .seconds(60),
                    after: [RedisCommand("XACK", arguments: [stream, "g"] + first.batches[0].entries.map(\.id) as [any RedisArgument])])
                #expect(second.replies.map(\.integer) == [2])
                #expect(try await client.send(RedisCommand("XPENDING", stream, "g")).array?.first?.integer == 2)
                #expect(second.batches[0].entries.count == 2)
            }
        }
    }

    @Test func `A read without a group returns the entries after an id that are added after it began to wait`() async throws {
        try await withClient { client, stream in
            let first = try await client.xadd(stream, fields: fields)
            try await client.withDedicatedConnection { connection in
                async let batches = connection.xread(streams: [(stream, first)], count: 10, block: .seconds(60))
                try await waitUntilBlocked(connection, client)
                let id = try await client.xadd(stream, fields: fields)
                #expect(try await batches.first?.entries.map(\.id) == [id])
            }
        }
    }

    @Test func `Another connection can end a blocked read as if its time had run out`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            try await client.withDedicatedConnection { connection in
                async let read = connection.xreadgroup(
                    group: "g", consumer: "c", streams: [stream], count: 10, block: .seconds(60))
                try await waitUntilBlocked(connection, client)
                #expect(try await client.unblock(connection))
                #expect(try await read.batches.isEmpty)
                try await connection.ping()
            }
        }
    }

    @Test func `A cancelled blocking read closes its connection, so that it does not consume entries`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            let connection = try await client.dedicatedConnection()
            let task = Task {
                await redisError {
                    try await connection.xreadgroup(
                        group: "g", consumer: "c", streams: [stream], count: 10, block: .seconds(60))
                }
            }
            try await waitUntilBlocked(connection, client)
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            await connection.waitUntilClosed()
            #expect(await redisError { try await connection.ping() }?.code == .connectionLost)
            let id = try #require(connection.clientID)
            // The server notices the closed connection with a delay.
            try await eventually("the server has closed the connection") {
                try await client.send(RedisCommand("CLIENT", "LIST", "ID", id)).string == ""
            }
        }
    }

    @Test func `A blocked read on a group that is destroyed fails with the code noGroup`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            try await client.withDedicatedConnection { connection in
                let task = Task {
                    await redisError {
                        try await connection.xreadgroup(
                            group: "g", consumer: "c", streams: [stream], count: 10, block: .seconds(60))
                    }
                }
                try await waitUntilBlocked(connection, client)
                _ = try await client.send(RedisCommand("XGROUP", "DESTROY", stream, "g"))
                #expect(await task.value?.code == .server(.noGroup))
                try await connection.ping()
            }
        }
    }

    @Test func `A blocked read on a server that hangs fails two seconds after its time and closes the connection`() async throws {
        let server = try await ScriptedServer.redis { _ in nil }
        try await withClient(url: server.redisURL) { client, stream in
            let connection = try await client.dedicatedConnection()
            let start = ContinuousClock.now
            let error = await redisError {
                try await connection.xread(streams: [(stream, .zero)], count: 1, block: .milliseconds(100))
            }
            #expect(error?.code == .timeout)
            let duration = ContinuousClock.now - start
            #expect(duration >= .milliseconds(2100) && duration < .seconds(60))
            await connection.waitUntilClosed()
        }
    }

    @Test func `Commands on a lost dedicated connection fail, and it is not made again`() async throws {
        let server = try await RedisServer.start()
        try await withClient(of: server) { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            let connection = try await client.dedicatedConnection()
            let task = Task {
                await redisError {
                    try await connection.xreadgroup(
                        group: "g", consumer: "c", streams: [stream], count: 10, block: .seconds(60))
                }
            }
            try await waitUntilBlocked(connection, client)
            await server.kill()
            let error = await task.value
            #expect(error?.code == .connectionLost && error?.mayHaveExecuted == true)
            #expect(await redisError { try await connection.ping() }?.mayHaveExecuted == false)
            #expect(await redisError { _ = try await client.dedicatedConnection() }?.code == .connectionFailed)
        }
    }

    /// Waits until the server reports that the connection is blocked in a command.
    private func waitUntilBlocked(_ connection: RedisConnection, _ client: RedisClient) async throws {
        let number = try #require(connection.clientID)
        try await eventually("the connection is blocked") {
            let line = try await client.send(RedisCommand("CLIENT", "LIST", "ID", number)).string ?? ""
            let flags = line.split(separator: " ").first { $0.hasPrefix("flags=") }
            return flags?.contains("b") == true
        }
    }
}
