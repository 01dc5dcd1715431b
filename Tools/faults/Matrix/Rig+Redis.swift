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
        // Past all proxies, which may hold the answers to the rig's own client, too.
        let server = try await server(of: stream)
        let lines = try await server.cli("XINFO", "STREAM", transport.key(of: stream)).split(separator: "\n")
        guard let index = lines.firstIndex(of: "entries-added"), let value = Int(lines[index + 1]) else {
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

    /// Returns the server that has a stream now.
    func server(of stream: String) async throws -> RedisServer { cluster == nil ? redisServers[0] : try await master(of: stream).server }

    /// Returns the servers that execute writes now.
    func masters() async throws -> [RedisServer] { try await cluster?.currentMasters().map(\.server) ?? redisServers }

    /// Calls a function with each of some servers, at once.
    func atOnce(_ servers: [RedisServer], _ body: @escaping @Sendable (RedisServer) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for server in servers { group.addTask { try await body(server) } }
            try await group.waitForAll()
        }
    }

    /// Changes the handling of bytes in all proxies.
    func setTraffic(_ traffic: FaultProxy.Traffic) async throws {
        for proxy in proxies { try await proxy.set(traffic) }
    }
}
