import FoundationEssentials
public import RedisClient
import WireFormat

/// The transport of production: one Redis stream for each stream, named with a prefix.
///
/// A group has keys of its own beside the stream: its retries (a sorted set by due time, and a hash with the messages), the
/// heartbeats of its consumers, and the consumers whose entries were claimed. Needs Redis 7.0 or newer.
public struct RedisEventTransport: EventTransport {
    /// The prefix of all keys on the server, so that several systems can share one.
    public let keyPrefix: String
    let client: RedisClient
    /// The time limit of an append, including the connection; the relay holds rows locked meanwhile.
    private let appendTimeout: Duration

    /// Makes a transport on a client that the caller runs and shuts down.
    public init(client: RedisClient, keyPrefix: String = "heliograph:", appendTimeout: Duration = .seconds(2)) {
        self.client = client
        self.keyPrefix = keyPrefix
        self.appendTimeout = appendTimeout
    }

    /// Returns the server's key for a stream.
    ///
    /// All keys of a stream have the same hash tag, so that a script that touches several of them works on a cluster.
    public func key(of stream: String) -> String { Self.key(of: stream, prefix: keyPrefix) }

    static func key(of stream: String, prefix: String) -> String { "\(prefix){\(stream)}" }

    /// Returns the keys for the retries of a group: due times and messages.
    func retryKeys(of group: StreamGroup) -> [String] {
        let stem = "\(key(of: group.stream)):\(group.name):retry"
        return [stem, "\(stem):messages"]
    }

    /// Returns the key for the number of claims that took entries from each consumer of a group.
    func lossKey(of group: StreamGroup) -> String { "\(key(of: group.stream)):\(group.name):losses" }

    /// Returns the keys for the time of a group's last heartbeat, and for the last heartbeat of each consumer.
    func pulseKeys(of group: StreamGroup) -> [String] {
        let stem = "\(key(of: group.stream)):\(group.name)"
        return ["\(stem):pulse", "\(stem):heartbeats"]
    }

    /// Returns the beginning of the channels of a group's lifelines; the name of the consumer follows.
    func lifelineStem(of group: StreamGroup) -> String { "\(key(of: group.stream)):\(group.name):lifeline:" }

    /// Creates the group, and the stream if need be, with `XGROUP CREATE … MKSTREAM` at entry 0.
    public func createGroup(_ group: String, on stream: String) async throws(EventBusError) {
        try await attempt("making a consumer group") { () async throws(RedisError) in
            _ = try await client.xgroupCreate(key(of: stream), group: group)
        }
    }

    /// Appends entries with one pipeline of `XADD`, within the time limit of ``init(client:keyPrefix:appendTimeout:)``.
    public func append(
        _ entries: [OutgoingEntry]
    ) async throws(EventBusError) -> [Result<EntryID, EventBusError>] {
        guard !entries.isEmpty else { return [] }
        // Entries that are appended together mostly belong to one stream, so its key is made once.
        var (stream, key) = ("", "")
        var list = RedisCommandList(count: entries.count, capacity: entries.reduce(0) { $0 + $1.approximateByteCount })
        for entry in entries {
            if entry.stream != stream || key.isEmpty { (stream, key) = (entry.stream, self.key(of: entry.stream)) }
            list.xadd(key, entry)
        }
        let commands = list.finish()
        let replies = try await attempt("appending") { () async throws(RedisError) in
            try await client.pipeline(commands, timeout: appendTimeout)
        }
        return replies.map { reply in
            if let error = reply.error { return .failure(EventBusError(error, "appending")) }
            guard let id = EntryID(reply) else {
                return .failure(EventBusError(.refused, "appending gave no number"))
            }
            return .success(id)
        }
    }

    /// Opens a reader on a connection of its own, after teaching the server the script that acknowledges.
    public func openReader(_ consumer: GroupConsumer) async throws(EventBusError) -> any GroupReader {
        // The server learns the script here, so that acknowledgements can be sent with reads from the first one on.
        _ = try await settle(SettlementScripts.acknowledge, "preparing a reader", consumer, [], keys: [lossKey(of: consumer.group)])
        let connection = try await attempt("connecting a reader") { () async throws(RedisError) in
            try await client.dedicatedConnection(for: key(of: consumer.group.stream))
        }
        return RedisGroupReader(
            client: client, connection: connection, keys: [key(of: consumer.group.stream), lossKey(of: consumer.group)],
            consumer: consumer)
    }

    /// Opens a reader that begins after the last entry that the stream has now, on a connection of its own.
    public func openTail(stream: String) async throws(EventBusError) -> any TailReader {
        let key = key(of: stream)
        let connection = try await attempt("connecting a reader") { () async throws(RedisError) in
            try await client.dedicatedConnection(for: key)
        }
        let last = try await attempt("finding the end of a stream") { () async throws(RedisError) in
            let last = try await connection.send(RedisCommand("XREVRANGE", key, "+", "-", "COUNT", 1))
            return last.array?.first?.array?.first.flatMap { EntryID($0) } ?? .zero
        }
        return RedisTailReader(client: client, connection: connection, stream: stream, key: key, after: last)
    }

    func attempt<Value>(
        _ doing: String, _ body: () async throws(RedisError) -> Value
    ) async throws(EventBusError) -> Value {
        do throws(RedisError) {
            return try await body()
        } catch {
            throw EventBusError(error, doing)
        }
    }

    /// Runs a script and reads its reply.
    func run<Value>(
        _ script: RedisScript, _ doing: String, keys: [String], _ arguments: [any RedisArgument],
        _ read: (RedisReply) throws(RedisError) -> Value
    ) async throws(EventBusError) -> Value {
        try await attempt(doing) { () async throws(RedisError) in
            try read(try await client.eval(script, keys: keys, arguments: arguments))
        }
    }
}

extension Duration {
    var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
