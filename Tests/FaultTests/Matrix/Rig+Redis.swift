import EventBus
import FaultLedger
import Foundation
import RedisClient
import Synchronization
import TestSupport

extension Rig {
    /// How many entries of a stream the group was given and has not settled.
    func pendingCount(_ stream: String) async throws -> Int {
        try await redisClient.xpending(transport.key(of: stream), group: Self.group).count
    }

    /// How many entries of the work's stream a process was given and has not settled.
    func pending(of process: RigProcess) async throws -> Int {
        let key = transport.key(of: Rig.workStream)
        let reply = try await redisClient.send(RedisCommand("XPENDING", key, Self.group))
        // Per consumer: its name, which has the process id between colons, and its number of entries as text.
        let consumers = reply.array?.last?.array ?? []
        return consumers.reduce(0) { sum, consumer in
            let parts = consumer.array?.map { $0.string ?? "" } ?? []
            guard parts.count == 2, parts[0].contains(":\(process.pid):") else { return sum }
            return sum + (Int(parts[1]) ?? 0)
        }
    }

    /// How many entries were ever appended to a stream, those that were trimmed included.
    func appendedCount(_ stream: String) async throws -> Int {
        try await streamInfo(stream, "entries-added")
    }

    /// How many entries a stream has.
    func length(_ stream: String) async throws -> Int { try await streamInfo(stream, "length") }

    private func streamInfo(_ stream: String, _ field: String) async throws -> Int {
        let reply = try await redisClient.send(RedisCommand("XINFO", "STREAM", transport.key(of: stream)))
        let parts = reply.array ?? []
        guard let index = parts.firstIndex(where: { $0.string == field }), let value = parts[index + 1].integer else {
            throw DeadlineExceeded(description: "XINFO STREAM tells no \(field)")
        }
        return value
    }

    /// How many messages the group has given up.
    func deadLetterCount() async throws -> Int {
        var count = 0
        for stream in Self.streams {
            count += try await redisClient.xlen("\(transport.key(of: stream)):\(Self.group):dead")
        }
        return count
    }

    /// Appends copies of the entries that a stream has, and returns how many.
    func repeatEntries(of stream: String, times: Int) async throws -> Int {
        let entries = try await redisClient.xrange(transport.key(of: stream), count: 10_000)
        for _ in 0..<times {
            let results = try await transport.append(entries.map { OutgoingEntry(stream: stream, fields: $0.fields) })
            for result in results { _ = try result.get() }
        }
        return entries.count * times
    }

    /// The proxy of a row that asked for one.
    func requireProxy() throws -> FaultProxy {
        guard let proxy else { throw DeadlineExceeded(description: "the row asked for no proxy") }
        return proxy
    }
}
