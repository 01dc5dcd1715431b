import RedisClient
import TestSupport
import Testing

@Suite struct StreamTests {
    private let fields: [(name: String, value: [UInt8])] = [("type", Array("t".utf8)), ("body", [0, 13, 10, 255])]

    @Test func `An entry is read as it was added`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            let id = try await client.xadd(stream, fields: fields)
            let batches = try await read(client, stream)
            #expect(batches.map(\.stream) == [stream])
            let entry = try #require(batches.first?.entries.first)
            #expect(entry.id == id)
            #expect(entry.fields.map(\.name) == ["type", "body"])
            #expect(entry.fields.map(\.value) == fields.map(\.value))
            #expect(try await read(client, stream).isEmpty)
        }
    }

    @Test func `A group is created once and begins with the first entry`() async throws {
        try await withClient { client, stream in
            let id = try await client.xadd(stream, fields: fields)
            #expect(try await client.xgroupCreate(stream, group: "g"))
            #expect(try await client.xgroupCreate(stream, group: "g") == false)
            #expect(try await read(client, stream, group: "g").first?.entries.map(\.id) == [id])
        }
    }

    @Test func `A read of a missing group fails with the code noGroup`() async throws {
        try await withClient { client, stream in
            #expect(await redisError { try await read(client, stream) }?.code == .server(.noGroup))
        }
    }

    @Test func `A range is read in order from an id on`() async throws {
        try await withClient { client, stream in
            var ids: [RedisStreamID] = []
            for _ in 0..<5 { ids.append(try await client.xadd(stream, fields: fields)) }
            #expect(try await client.xrange(stream, count: 10).map(\.id) == ids)
            #expect(try await client.xrange(stream, from: ids[1], count: 2).map(\.id) == [ids[1], ids[2]])
        }
    }

    @Test func `A read without a group continues after an id`() async throws {
        try await withClient { client, stream in
            let first = try await client.xadd(stream, fields: fields)
            let second = try await client.xadd(stream, fields: fields)
            let reply = try await client.send(
                .xread(streams: [(stream, first), (stream + "x", .zero)], count: 10))
            let batches = try RedisStreamBatch.decodeList(reply)
            #expect(batches.count == 1 && batches[0].entries.map(\.id) == [second])
        }
    }

    @Test func `Batches of 256 entries are read in order`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            for batch in 0..<8 {
                let commands = (0..<256).map { RedisCommand.xadd(stream, fields: [("n", Array(String(batch * 256 + $0).utf8))]) }
                let replies = try await client.pipeline(commands)
                #expect(replies.allSatisfy { RedisStreamID($0) != nil })
            }
            var numbers: [String] = []
            while let batch = try await read(client, stream, count: 256).first {
                numbers += batch.entries.map { String(decoding: $0.fields[0].value, as: UTF8.self) }
            }
            #expect(numbers == (0..<2048).map(String.init))
        }
    }

    private func read(
        _ client: RedisClient, _ stream: String, group: String = "g", count: Int = 10
    ) async throws(RedisError) -> [RedisStreamBatch] {
        try RedisStreamBatch.decodeList(
            try await client.send(.xreadgroup(group: group, consumer: "c", streams: [stream], count: count)))
    }
}
