import RedisClient
import TestSupport
import Testing

/// Real clusters whose masters are replaced by their replicas.
@Suite struct ClusterFailoverTests {
    private static let fields = [(name: "k", value: Array("v".utf8))]

    /// Returns one key for each master, with the master's position.
    private func keys(of cluster: RedisClusterServers) async throws -> [String] {
        var keys: [Int: String] = [:]
        var number = 0
        while keys.count < cluster.masters.count {
            number += 1
            keys[try await cluster.position(of: "key\(number)")] = "key\(number)"
        }
        return keys.sorted { $0.key < $1.key }.map(\.value)
    }

    @Test func `An orderly failover loses no acknowledged entry, and every command succeeds`() async throws {
        let cluster = try await RedisClusterServers.start(replicas: 3)
        try await withClusterClient(of: cluster) { client in
            let keys = try await keys(of: cluster)
            let hasEnded = StopFlag()
            let acknowledged = try await withThrowingTaskGroup(of: (String, [RedisStreamID]).self) { group in
                for key in keys {
                    group.addTask {
                        var ids: [RedisStreamID] = []
                        while !hasEnded.isSet {
                            // A server that becomes a replica may close its connections, with commands that it has executed.
                            guard let id = try? await client.xadd(key, fields: Self.fields) else { continue }
                            ids.append(id)
                        }
                        return (key, ids)
                    }
                }
                for replica in cluster.replicas { try await cluster.failOver(to: replica) }
                hasEnded.set()
                var all: [(String, [RedisStreamID])] = []
                for try await one in group { all.append(one) }
                return all
            }
            for (key, ids) in acknowledged {
                let stored = Set(try await client.xrange(key, count: 10_000_000).map(\.id))
                #expect(!ids.isEmpty && stored.isSuperset(of: ids))
            }
            for replica in cluster.replicas { #expect(try await replica.isMaster) }
        }
    }

    @Test func `After the death of a master its replica is used, and no command is executed twice`() async throws {
        let cluster = try await RedisClusterServers.start(replicas: 1, failoverTime: .seconds(2))
        try await withClusterClient(of: cluster) { client in
            let keys = try await keys(of: cluster)
            let isBack = StopFlag()
            let counts = try await withThrowingTaskGroup(of: (String, sure: Int, perhaps: Int).self) { group in
                for key in keys {
                    group.addTask {
                        var (sure, perhaps) = (0, 0)
                        while !isBack.isSet {
                            do throws(RedisError) {
                                _ = try await client.send(RedisCommand("INCR", key), timeout: .seconds(60))
                                sure += 1
                            } catch {
                                perhaps += error.mayHaveExecuted ? 1 : 0
                            }
                        }
                        return (key, sure, perhaps)
                    }
                }
                await cluster.masters[0].server.kill()
                try await cluster.waitUntilMaster(cluster.replicas[0])
                let before = try await cluster.replicas[0].server.cli("GET", keys[0])
                try await eventually("the replica counts on") { try await cluster.replicas[0].server.cli("GET", keys[0]) != before }
                isBack.set()
                var counts: [(String, sure: Int, perhaps: Int)] = []
                for try await count in group { counts.append(count) }
                return counts
            }
            for (key, sure, perhaps) in counts {
                let stored = try #require(try await client.send(RedisCommand("GET", key)).string.flatMap { Int($0) })
                #expect(stored <= sure + perhaps, "\(key): \(stored) of \(sure) and perhaps \(perhaps)")
                // A replica need not have the last writes of its master; the masters that live lose nothing.
                if key != keys[0] { #expect(stored == sure && perhaps == 0) }
            }
        }
    }

    @Test func `While a master is away, the commands of the others in a pipeline are answered`() async throws {
        let cluster = try await RedisClusterServers.start()
        try await withClusterClient(of: cluster) { client in
            let keys = try await keys(of: cluster)
            let commands = keys.map { RedisCommand("INCR", $0) }
            #expect(try await client.pipeline(commands).map(\.integer) == [1, 1, 1])
            await cluster.masters[0].server.kill()
            let replies = try await client.pipeline(commands, timeout: .seconds(1))
            #expect(replies.map(\.integer) == [nil, 2, 2])
            // The loss may be noticed only when the command is under way.
            let code = try #require(replies[0].error?.code)
            #expect([.server(.unreachable), .server(.unanswered)].contains(code))
            try await cluster.masters[0].server.restart()
            let again = try await eventually("the master is back") { try? await client.send(RedisCommand("INCR", keys[0])) }
            #expect(again.integer == 1)
        }
    }
}
