import AsyncPrimitives
import RedisClient
import TestSupport
import Testing

@testable import EventBus

/// Tests faults of a consumer that only a Redis server can cause.
@Suite("A consumer on Redis", .timeLimit(.minutes(3)))
struct RedisFaultTests {
    @Test func `continues when its group is destroyed`() async throws {
        let server = try await RedisServer.shared()
        try await withRedisTransport(on: server) { transport in
            let processor = RecordingProcessor()
            try await withConsumer(transport, processor) {
                try await transport.append(1...3)
                await processor.waitFor(3)
                try await server.cli("XGROUP", "DESTROY", transport.key(of: testStream), "group")
                try await transport.append([4])
                await processor.wait { $0.contains(4) }
            }
            // A new group begins at the first entry; the inbox would absorb the repetitions.
            #expect(Set(processor.numbers) == [1, 2, 3, 4])
        }
    }

    @Test func `continues when all data of the server are deleted`() async throws {
        let server = try await RedisServer.start()
        try await withRedisTransport(on: server) { transport in
            let processor = RecordingProcessor()
            try await withConsumer(transport, processor) {
                try await transport.append(1...3)
                await processor.waitFor(3)
                try await server.cli("FLUSHALL")
                try await transport.append(4...5)
                await processor.wait { $0.contains(5) }
            }
            #expect(Set(processor.numbers) == [1, 2, 3, 4, 5])
        }
        await server.stop()
    }

    @Test func `continues after a restart of the server`() async throws {
        let server = try await RedisServer.start(persistence: .appendOnly)
        try await withRedisTransport(on: server) { transport in
            let processor = RecordingProcessor()
            try await withConsumer(transport, processor) {
                try await transport.append(1...3)
                await processor.waitFor(3)
                try await server.restart()
                try await eventually("an append succeeds") { try? await transport.append([4]) }
                await processor.wait { $0.contains(4) }
                try await eventually("all is acknowledged") {
                    try await transport.pendingCount(of: group("group")) == 0
                }
            }
        }
        await server.stop()
    }

    @Test func `loses no message when its connections are cut during its work`() async throws {
        let server = try await RedisServer.start()
        try await withRedisTransport(on: server) { transport in
            let processor = RecordingProcessor()
            try await withConsumer(transport, processor) {
                for round in 0..<10 {
                    try await transport.append((round * 20)..<(round * 20 + 20))
                    try await server.cli("CLIENT", "KILL", "TYPE", "normal")
                    try await eventually("the client is back") {
                        (try? await transport.pendingCount(of: group("group"))) != nil
                    }
                }
                try await eventually("all are handled and acknowledged") {
                    guard Set(processor.numbers).isSuperset(of: 0..<200) else { return false }
                    return try await transport.pendingCount(of: group("group")) == 0
                }
            }
        }
        await server.stop()
    }

    @Test func `claims released entries although the server is out of memory`() async throws {
        let server = try await RedisServer.start()
        try await withRedisTransport(on: server) { transport in
            try await transport.createGroup("g", on: testStream)
            try await transport.append(1...3)
            let dead = try await transport.openReader(consumer("dead"))
            _ = try await dead.read(count: 3, wait: .seconds(60), acknowledging: [])
            await dead.close()
            // A claim of released entries needs no write that records their consumer.
            let ids = try await transport.claim(ClaimRequest(minIdle: .zero, count: 9), for: consumer("c")).entries.map(\.id)
            _ = try await transport.release(ids, by: consumer("c"))
            try await server.cli("CONFIG", "SET", "maxmemory", "1")
            let answer = try await transport.beat(.test, by: consumer("heir"))
            #expect(answer.claimable == [GroupConsumer.released])
            let request = ClaimRequest(holder: GroupConsumer.released, minIdle: .zero, count: 9, maxPulseAge: .zero)
            let claimed = try await transport.claim(request, for: consumer("heir"))
            #expect(claimed.entries.map(\.id) == ids)
            #expect(try await transport.acknowledge(ids, by: consumer("heir")).isEmpty)
            #expect(try await transport.pendingCount(of: group("g")) == 0)
        }
        await server.stop()
    }

    @Test func `dead-letters an entry with thousands of fields, and handles the others`() async throws {
        try await withRedisTransport(on: RedisServer.shared()) { transport in
            let fields = (0..<5000).map { (name: "f\($0)", value: [UInt8(1)]) }
            _ = try await transport.append([OutgoingEntry(stream: testStream, fields: fields)])
            try await transport.append([1])
            let (processor, deadLetters) = (RecordingProcessor(), RecordingDeadLetters())
            try await withConsumer(transport, processor, deadLetters: deadLetters) {
                await processor.waitFor(1)
                try await eventually("there is a dead letter") { !deadLetters.letters.isEmpty }
            }
            #expect(deadLetters.letters.map(\.fields.count) == [DeliveredEntry.maxRawFields])
            #expect(try await transport.pendingCount(of: group("group")) == 0)
        }
    }

    @Test func `continues when its group is lost while all held messages fail`() async throws {
        let server = try await RedisServer.start()
        try await withRedisTransport(on: server) { transport in
            var configuration = EventConsumerConfiguration.quick
            configuration.concurrency = 2
            let gate = AsyncLatch()
            let processor = RecordingProcessor { number, _ in
                guard number <= 2 else { return }
                await gate.wait()
                throw TestFailure()
            }
            try await withConsumer(transport, processor, configuration: configuration) {
                try await transport.append(1...2)
                await processor.waitFor(2)
                try await server.cli("FLUSHALL")
                gate.open()
                try await transport.append([3])
                await processor.wait { $0.contains(3) }
            }
        }
        await server.stop()
    }

    @Test func `deletes its name from the group when it is drained`() async throws {
        let server = try await RedisServer.shared()
        try await withRedisTransport(on: server) { transport in
            let processor = RecordingProcessor()
            try await withConsumer(transport, processor) {
                try await transport.append(1...3)
                await processor.waitFor(3)
            }
            let consumers = try await server.cli("XINFO", "CONSUMERS", transport.key(of: testStream), "group")
            #expect(!consumers.contains("consumer"))
        }
    }

    @Test func `counts deliveries so that they survive a restart of the server`() async throws {
        let server = try await RedisServer.start(persistence: .appendOnly)
        try await withRedisTransport(on: server) { transport in
            try await transport.createGroup("group", on: testStream)
            try await transport.append([1])
            let reader = try await transport.openReader(consumer("dead", "group"))
            _ = try await reader.read(count: 1, wait: .seconds(60), acknowledging: [])
            await reader.close()
            func claim() async throws -> Int? {
                try await transport.claim(
                    ClaimRequest(minIdle: .zero, cursor: .zero, count: 1), for: consumer("heir", "group")
                ).entries.first?.deliveryCount
            }
            #expect(try await claim() == 2)
            await server.stop()
            try await server.restart()
            #expect(try await eventually("the server is back") { try? await claim() } == 3)
        }
        await server.stop()
    }

    @Test func `returns the pending entries that were trimmed`() async throws {
        let server = try await RedisServer.shared()
        try await withRedisTransport(on: server) { transport in
            try await transport.createGroup("group", on: testStream)
            let ids = try await transport.append(1...3)
            let reader = try await transport.openReader(consumer("dead", "group"))
            _ = try await reader.read(count: 3, wait: .seconds(60), acknowledging: [])
            await reader.close()
            try await server.cli("XTRIM", transport.key(of: testStream), "MINID", ids[2].description)
            let claimed = try await transport.claim(
                ClaimRequest(minIdle: .zero, cursor: .zero, count: 10), for: consumer("heir", "group"))
            #expect(claimed.entries.map(\.id) == [ids[2]])
            #expect(claimed.lost == Array(ids[..<2]))
        }
    }
}
