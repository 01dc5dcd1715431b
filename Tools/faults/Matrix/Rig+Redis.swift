import EventBus
import FaultLedger
import Foundation
import RedisClient
import Synchronization
import TestSupport

extension Rig {
    /// Returns the status of the group on a stream.
    func status(_ stream: String) async throws -> GroupStatus { try await transport.status(of: Self.group(of: stream)) }

    static func group(of stream: String) -> StreamGroup { StreamGroup(stream: stream, name: group) }

    /// Returns the number of the group's dead letters.
    func deadLetterCount() async throws -> Int {
        var count = 0
        for stream in Self.streams { count += try await status(stream).dead }
        return count
    }

    /// Requeues all dead letters to the group, and returns the number of those that were requeued.
    func redriveAll() async throws -> Int {
        var count = 0
        for stream in Self.streams {
            let group = Self.group(of: stream)
            let letters = try await transport.deadLetters(of: group, after: .zero, count: 10_000)
            count += try await transport.redrive(letters.map(\.id), of: group).count
        }
        return count
    }

    /// Returns the number of pending entries of a process on the stream of work.
    func pending(of process: RigProcess) async throws -> Int {
        let key = transport.key(of: Rig.workStream)
        let reply = try await redisClient.send(RedisCommand("XPENDING", key, Self.group))
        // For each consumer: its name, which contains the process id between colons, and its number of entries as text.
        let consumers = reply.array?.last?.array ?? []
        return consumers.reduce(0) { sum, consumer in
            let parts = consumer.array?.map { $0.string ?? "" } ?? []
            guard parts.count == 2, parts[0].contains(":\(process.pid):") else { return sum }
            return sum + (Int(parts[1]) ?? 0)
        }
    }

    /// Returns the number of entries ever appended to a stream, including trimmed ones.
    func appendedCount(_ stream: String) async throws -> Int {
        let reply = try await redisClient.send(RedisCommand("XINFO", "STREAM", transport.key(of: stream)))
        let parts = reply.array ?? []
        guard let index = parts.firstIndex(where: { $0.string == "entries-added" }), let value = parts[index + 1].integer else {
            throw DeadlineExceeded(description: "XINFO STREAM does not tell how many entries were added")
        }
        return value
    }

    /// Appends copies of the newest entries of a stream, and returns the number of copies.
    func repeatEntries(of stream: String, newest: Int, times: Int) async throws -> Int {
        let entries = try await redisClient.xrange(transport.key(of: stream), count: 100_000).suffix(newest)
        for _ in 0..<times {
            let results = try await transport.append(entries.map { OutgoingEntry(stream: stream, fields: Array($0.fields)) })
            for result in results { _ = try result.get() }
        }
        return entries.count * times
    }

    /// Returns the cluster; throws when the row's ``RigOptions`` have none.
    func requireCluster() throws -> RedisClusterServers {
        guard let cluster else { throw DeadlineExceeded(description: "the row asked for no cluster") }
        return cluster
    }

    /// Returns the position of the pair of servers that has a stream now.
    func pair(serving stream: String) async throws -> Int {
        let (cluster, key) = (try requireCluster(), transport.key(of: stream))
        return try await eventually("a master has \(stream)") { try await cluster.pair(serving: key) }
    }

    /// Returns the proxy; throws when the row's ``RigOptions`` have none.
    func requireProxy() throws -> FaultProxy {
        guard let proxy else { throw DeadlineExceeded(description: "the row asked for no proxy") }
        return proxy
    }
}
