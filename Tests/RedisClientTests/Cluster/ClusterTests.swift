import TestSupport
import Testing

@testable import RedisClient

/// A real cluster of three masters, whose slots move.
@Suite struct ClusterTests {
    private static let cluster = Task { try await RedisClusterServers.start() }

    /// Calls `body` with the cluster that these tests share, a client, and a hash tag that no other test has.
    private func withCluster(
        _ body: (RedisClusterServers, RedisClient, _ tag: String) async throws -> Void
    ) async throws {
        let cluster = try await Self.cluster.value
        try await withClusterClient(of: cluster) { try await body(cluster, $0, RedisServer.uniquePrefix()) }
    }

    /// The servers between which the slot of a key is moved.
    private func move(
        of key: String, in cluster: RedisClusterServers
    ) async throws -> (slot: Int, source: RedisClusterServers.Node, target: RedisClusterServers.Node) {
        let position = try await cluster.position(of: key)
        return (try await cluster.slot(of: key), cluster.masters[position], cluster.masters[(position + 1) % 3])
    }

    @Test func `The slots that the client computes are those of the server`() async throws {
        try await withCluster { _, client, _ in
            var generator = SeededGenerator(seed: 7)
            let keys = (0..<500).map { _ in
                generator.bytes(upTo: 30).map { $0 % 5 == 0 ? UInt8(ascii: "{") : $0 % 7 == 0 ? UInt8(ascii: "}") : $0 }
            }
            let slots = try await client.pipeline(keys.map { RedisCommand("CLUSTER", "KEYSLOT", $0) }).map(\.integer)
            #expect(slots == keys.map { $0.withUnsafeBytes { ClusterSlot(ofKey: $0).number } })
        }
    }

    @Test func `A pipeline over all masters has its replies in the order of its commands`() async throws {
        try await withCluster { cluster, client, tag in
            let keys = (0..<300).map { "\(tag)\($0)" }
            let replies = try await client.pipeline(keys.enumerated().map { RedisCommand("SET", $0.element, $0.offset, "GET") })
            #expect(replies.allSatisfy { $0.isNull })
            let values = try await client.pipeline(keys.map { RedisCommand("GET", $0) })
            #expect(values.map(\.string) == (0..<300).map { "\($0)" })
            for master in cluster.masters { #expect(try await master.server.cli("DBSIZE") != "0\n") }
        }
    }

    @Test func `An error of one command stands in its reply alone`() async throws {
        try await withCluster { _, client, tag in
            _ = try await client.send(RedisCommand("SET", "\(tag)1", "text"))
            let replies = try await client.pipeline([RedisCommand("INCR", "\(tag)1"), RedisCommand("INCR", "\(tag)2")])
            #expect(replies[0].error?.code == .server(.err) && replies[1].integer == 1)
            let error = await redisError { try await client.send(RedisCommand("MGET", "\(tag)1", "\(tag)2", "\(tag)3", "\(tag)4")) }
            #expect(error?.code == .server(RedisServerErrorCode(rawValue: "CROSSSLOT")))
        }
    }

    @Test func `A script is sent to every master that does not have it`() async throws {
        try await withCluster { cluster, client, tag in
            let script = RedisScript("return {KEYS[1], '\(tag)'}")
            for number in 0..<60 {
                let reply = try await client.eval(script, keys: ["\(tag)\(number)"])
                #expect(reply.array?.first?.string == "\(tag)\(number)")
            }
            let hash = try await client.send(RedisCommand("EVAL", "return redis.sha1hex(ARGV[1])", 0, script.source)).string ?? ""
            for master in cluster.masters { #expect(try await master.server.cli("SCRIPT", "EXISTS", hash) == "1\n") }
        }
    }

    @Test(arguments: try await RedisClusterServers.movesInOneStep)
    func `A command follows its slot to another master`(inOneStep: Bool) async throws {
        try await withCluster { cluster, client, tag in
            let (slot, source, target) = try await move(of: tag, in: cluster)
            _ = try await client.send(RedisCommand("SET", tag, "value"))
            try await cluster.migrate(slot: slot, from: source, to: target, inOneStep: inOneStep)
            #expect(try await client.send(RedisCommand("GET", tag)).string == "value")
            try await cluster.migrate(slot: slot, from: target, to: source, inOneStep: inOneStep)
            #expect(try await client.send(RedisCommand("GET", tag)).string == "value")
        }
    }

    @Test func `While a slot moves, each key is read and written where it is`() async throws {
        try await withCluster { cluster, client, tag in
            let (slot, source, target) = try await move(of: tag, in: cluster)
            let keys = ["{\(tag)}old", "{\(tag)}new"]
            _ = try await client.send(RedisCommand("SET", keys[0], "old"))
            try await cluster.movingSlots {
                try await cluster.beginMigration(of: slot, from: source, to: target)
                // The first is still at its source, and the second is made at the target, where the source sends it.
                let replies = try await client.pipeline([
                    RedisCommand("GET", keys[0]), RedisCommand("SET", keys[1], "new"), RedisCommand("GET", keys[1]),
                ])
                #expect(replies.map(\.string) == ["old", "OK", "new"])
                // Not their number: keys of other tests may have the same slot.
                let places = [
                    try await source.server.cli("CLUSTER", "GETKEYSINSLOT", "\(slot)", "1000"),
                    try await target.server.cli("CLUSTER", "GETKEYSINSLOT", "\(slot)", "1000"),
                ].map { list in keys.filter { list.split(separator: "\n").contains(Substring($0)) } }
                #expect(places == [[keys[0]], [keys[1]]])
                // A command with both keys can be executed when the migration has ended.
                async let both = client.send(RedisCommand("MGET", keys[0], keys[1]))
                try await cluster.endMigration(of: slot, from: source, to: target)
                #expect(try await both.array?.map(\.string) == ["old", "new"])
            }
            try await cluster.migrate(slot: slot, from: target, to: source)
        }
    }

    @Test(arguments: try await RedisClusterServers.movesInOneStep)
    func `Every command is executed once while its slot moves to and fro`(inOneStep: Bool) async throws {
        try await withCluster { cluster, client, tag in
            let (slot, source, target) = try await move(of: tag, in: cluster)
            let keys = (0..<20).map { "{\(tag)}\($0)" }
            let hasMoved = StopFlag()
            let counts = try await withThrowingTaskGroup(of: (String, Int).self) { group in
                for key in keys {
                    group.addTask {
                        var count = 0
                        while !hasMoved.isSet {
                            let replies = try await client.pipeline([RedisCommand("INCR", key), RedisCommand("INCR", key)])
                            #expect(replies.map(\.integer) == [count + 1, count + 2])
                            count += 2
                        }
                        return (key, count)
                    }
                }
                // After a failure too, or the tasks would not end.
                defer { hasMoved.set() }
                for _ in 0..<3 {
                    try await cluster.migrate(slot: slot, from: source, to: target, inOneStep: inOneStep)
                    try await cluster.migrate(slot: slot, from: target, to: source, inOneStep: inOneStep)
                }
                hasMoved.set()
                var counts: [(String, Int)] = []
                for try await count in group { counts.append(count) }
                return counts
            }
            for (key, count) in counts { #expect(try await client.send(RedisCommand("GET", key)).string == "\(count)") }
            #expect(counts.count == keys.count)
        }
    }

    @Test(arguments: try await RedisClusterServers.movesInOneStep)
    func `A blocking read ends when its stream moves, and goes on at the new master`(inOneStep: Bool) async throws {
        try await withCluster { cluster, client, tag in
            let (slot, source, target) = try await move(of: tag, in: cluster)
            try await client.xgroupCreate(tag, group: "g")
            let connection = try await client.dedicatedConnection(for: tag)
            async let error = redisError { () async throws -> Void in
                while true {
                    _ = try await connection.xreadgroup(group: "g", consumer: "c", streams: [tag], count: 1, block: .seconds(60))
                }
            }
            try await cluster.migrate(slot: slot, from: source, to: target, inOneStep: inOneStep)
            #expect(await error?.isRetryable == true)
            await connection.close()
            let id = try await client.xadd(tag, fields: [("k", [1])])
            let entries = try await eventually("the new master is known to the client") { () -> [RedisStreamID]? in
                let connection = try await client.dedicatedConnection(for: tag)
                let read = try? await connection.xreadgroup(group: "g", consumer: "c", streams: [tag], count: 1, block: .seconds(10))
                await connection.close()
                return read?.batches.first?.entries.map(\.id)
            }
            #expect(entries == [id])
            try await cluster.migrate(slot: slot, from: target, to: source, inOneStep: inOneStep)
        }
    }

    @Test func `A read at any master can be ended`() async throws {
        try await withCluster { _, client, tag in
            for number in 0..<6 {
                let stream = "\(tag)\(number)"
                try await client.xgroupCreate(stream, group: "g")
                let connection = try await client.dedicatedConnection(for: stream)
                async let read = connection.xreadgroup(group: "g", consumer: "c", streams: [stream], count: 1, block: .seconds(60))
                try await eventually("the read is ended") { try await client.unblock(connection) }
                #expect(try await read.batches.isEmpty)
                await connection.close()
            }
        }
    }

    @Test func `A command for all servers is executed by each of them`() async throws {
        try await withCluster { _, client, _ in
            let replies = try await client.sendToAllServers(RedisCommand("CLUSTER", "MYID"))
            #expect(Set(replies.compactMap(\.string)).count == 3)
        }
    }

    @Test func `The error says when no server of the cluster can be reached`() async throws {
        let configuration = try RedisConfiguration(url: "redis+cluster://127.0.0.1:\(try FreePort.find())")
        let client = RedisClient(configuration: configuration, logger: .quiet)
        let error = await redisError { try await client.send(RedisCommand("GET", "x"), timeout: .milliseconds(200)) }
        #expect(error?.code == .connectionFailed && error?.mayHaveExecuted == false)
        await client.shutdown()
        #expect(await redisError { try await client.send(RedisCommand("GET", "x")) }?.code == .shutDown)
    }
}
