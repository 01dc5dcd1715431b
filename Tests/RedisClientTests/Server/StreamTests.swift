import RedisClient
import TestSupport
import Testing

@Suite struct StreamTests {
    private let fields: [(name: String, value: [UInt8])] = [("type", Array("t".utf8)), ("body", [0, 13, 10, 255])]

    @Test func `An entry is read as it was added`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            let id = try #require(try await client.xadd(stream, fields: fields))
            let batches = try await client.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 10)
            #expect(batches.map(\.stream) == [stream])
            let entry = try #require(batches.first?.entries.first)
            #expect(entry.id == id)
            #expect(entry.fields.map(\.name) == ["type", "body"])
            #expect(entry.fields.map(\.value) == fields.map(\.value))
            #expect(try await client.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 10).isEmpty)
        }
    }

    @Test func `An entry may be added with a given id`() async throws {
        try await withClient { client, stream in
            let id = RedisStreamID(milliseconds: 5, sequence: 7)
            let added = try await client.xadd(stream, id: id, fields: fields)
            #expect(added == id)
            #expect(await redisError { try await client.xadd(stream, id: id, fields: fields) }?.code == .server(.err))
        }
    }

    @Test func `Nothing is added to a missing stream when createStream is false`() async throws {
        try await withClient { client, stream in
            let added = try await client.xadd(stream, createStream: false, fields: fields)
            #expect(added == nil)
            #expect(try await client.xlen(stream) == 0)
        }
    }

    @Test func `A group is created once and begins at the given position`() async throws {
        try await withClient { client, stream in
            let first = try #require(try await client.xadd(stream, fields: fields))
            try await client.xadd(stream, fields: fields)
            #expect(try await client.xgroupCreate(stream, group: "all"))
            #expect(try await client.xgroupCreate(stream, group: "all") == false)
            try await client.xgroupCreate(stream, group: "some", from: .after(first))
            try await client.xgroupCreate(stream, group: "new", from: .end)
            for (group, count) in [("all", 2), ("some", 1), ("new", 0)] {
                let batches = try await client.xreadgroup(group: group, consumer: "c", streams: [stream], count: 10)
                #expect(batches.first?.entries.count ?? 0 == count)
            }
            #expect(try await client.xgroupDestroy(stream, group: "new"))
            #expect(try await client.xgroupDestroy(stream, group: "new") == false)
        }
    }

    @Test func `A read of a missing group fails with the code noGroup`() async throws {
        try await withClient { client, stream in
            let error = await redisError {
                try await client.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 1)
            }
            #expect(error?.code == .server(.noGroup))
        }
    }

    @Test func `A read entry is pending until it is acknowledged`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            var ids: [RedisStreamID] = []
            for _ in 0..<3 { ids.append(try #require(try await client.xadd(stream, fields: fields))) }
            _ = try await client.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 10)
            let summary = try await client.xpending(stream, group: "g")
            #expect(summary.count == 3)
            #expect(summary.range == ids[0]...ids[2])
            #expect(summary.consumers == ["c": 3])
            #expect(try await client.xack(stream, group: "g", ids: [ids[0], ids[1], .zero]) == 2)
            #expect(try await client.xack(stream, group: "g", ids: []) == 0)
            let pending = try await client.xpending(stream, group: "g", count: 10)
            #expect(pending.map(\.id) == [ids[2]])
            #expect(pending.first?.consumer == "c" && pending.first?.deliveries == 1)
            #expect(try await client.xpending(stream, group: "g", count: 10, consumer: "other").isEmpty)
            try await client.xack(stream, group: "g", ids: [ids[2]])
            #expect(try await client.xpending(stream, group: "g").range == nil)
        }
    }

    @Test func `A dead consumer's entries are claimed, page by page, and deliveries are counted`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            for _ in 0..<5 { try await client.xadd(stream, fields: fields) }
            _ = try await client.xreadgroup(group: "g", consumer: "dead", streams: [stream], count: 10)
            let early = try await client.xautoclaim(stream, group: "g", consumer: "c", minIdle: .seconds(60), count: 3)
            #expect(early.entries.isEmpty && early.cursor == .zero)
            var claim = try await client.xautoclaim(stream, group: "g", consumer: "c", minIdle: .milliseconds(0), count: 3)
            #expect(claim.entries.count == 3 && claim.cursor != .zero)
            claim = try await client.xautoclaim(
                stream, group: "g", consumer: "c", minIdle: .milliseconds(0), from: claim.cursor, count: 3)
            #expect(claim.entries.count == 2 && claim.cursor == .zero)
            #expect(claim.entries.first?.fields.map(\.value) == fields.map(\.value))
            let pending = try await client.xpending(stream, group: "g", count: 10)
            #expect(pending.allSatisfy { $0.consumer == "c" && $0.deliveries == 2 })
        }
    }

    @Test func `Entries that were deleted while pending are listed separately`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            let gone = try #require(try await client.xadd(stream, fields: fields))
            let left = try #require(try await client.xadd(stream, fields: fields))
            _ = try await client.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 10)
            _ = try await client.send(RedisCommand("XDEL", stream, gone))
            let history = try await client.xreadgroupHistory(group: "g", consumer: "c", stream: stream, count: 10)
            #expect(history.entries.map(\.id) == [left] && history.deleted == [gone])
            let claim = try await client.xautoclaim(stream, group: "g", consumer: "d", minIdle: .milliseconds(0), count: 10)
            #expect(claim.entries.map(\.id) == [left] && claim.deleted == [gone])
        }
    }

    @Test func `Claiming one's own entries resets their idle time and does not count a delivery`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            let id = try #require(try await client.xadd(stream, fields: fields))
            _ = try await client.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 10)
            let owned = try await client.xclaimIDs(stream, group: "g", consumer: "c", minIdle: .zero, ids: [id, .zero.next])
            #expect(owned == [id] || owned == [])
            #expect(try await client.xpending(stream, group: "g", count: 1).first?.deliveries == 1)
        }
    }

    @Test func `A range is read in order, and the entries before an id can be trimmed`() async throws {
        try await withClient { client, stream in
            var ids: [RedisStreamID] = []
            for _ in 0..<5 { ids.append(try #require(try await client.xadd(stream, fields: fields))) }
            #expect(try await client.xrange(stream, from: ids[1], count: 2).map(\.id) == [ids[1], ids[2]])
            #expect(try await client.xtrim(stream, before: ids[3]) == 3)
            #expect(try await client.xrange(stream, count: 10).map(\.id) == [ids[3], ids[4]])
            #expect(try await client.xlen(stream) == 2)
        }
    }

    @Test func `A read without a group continues after an id`() async throws {
        try await withClient { client, stream in
            let first = try #require(try await client.xadd(stream, fields: fields))
            let second = try #require(try await client.xadd(stream, fields: fields))
            let batches = try await client.xread(streams: [(stream, .after(first)), (stream + "x", .after(.zero))], count: 10)
            #expect(batches.count == 1 && batches[0].entries.map(\.id) == [second])
        }
    }

    @Test func `The information on a group has its pending entries and its lag`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            for _ in 0..<3 { try await client.xadd(stream, fields: fields) }
            let batch = try await client.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 1)
            let info = try #require(try await client.xinfoGroups(stream).first)
            #expect(info.name == "g" && info.consumers == 1 && info.pending == 1 && info.lag == 2)
            #expect(info.lastDelivered == batch.first?.entries.first?.id)
            #expect(try await client.xgroupDeleteConsumer(stream, group: "g", consumer: "c") == 1)
        }
    }

    @Test func `Batches of 256 entries are read in order and leave none pending`() async throws {
        try await withClient { client, stream in
            try await client.xgroupCreate(stream, group: "g")
            for batch in 0..<8 {
                let commands = (0..<256).map { RedisCommand.xadd(stream, fields: [("n", Array(String(batch * 256 + $0).utf8))]) }
                let replies = try await client.pipeline(commands)
                #expect(replies.allSatisfy { RedisStreamID($0) != nil })
            }
            var numbers: [String] = []
            while let batch = try await client.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 256).first {
                numbers += batch.entries.map { String(decoding: $0.fields[0].value, as: UTF8.self) }
                #expect(try await client.xack(stream, group: "g", ids: batch.entries.map(\.id)) == batch.entries.count)
            }
            #expect(numbers == (0..<2048).map(String.init))
            #expect(try await client.xpending(stream, group: "g").count == 0)
        }
    }
}
