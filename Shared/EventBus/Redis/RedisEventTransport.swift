import FoundationEssentials
public import RedisClient
import WireFormat

/// The transport of production: one Redis stream for each stream, named with a prefix.
public struct RedisEventTransport: EventTransport {
    /// What the names of all streams begin with on the server, so that several systems can share one.
    public let keyPrefix: String
    private let client: RedisClient
    /// How long an append may take, connecting included; the relay holds rows locked meanwhile.
    private let appendTimeout: Duration

    /// Works through a client that somebody else runs and shuts down.
    public init(client: RedisClient, keyPrefix: String = "heliograph:", appendTimeout: Duration = .seconds(2)) {
        self.client = client
        self.keyPrefix = keyPrefix
        self.appendTimeout = appendTimeout
    }

    /// The server's key for a stream.
    ///
    /// All keys of a stream have the same hash tag, so that a script that touches several of them works on a cluster.
    public func key(of stream: String) -> String { "\(keyPrefix){\(stream)}" }

    /// The server's key for what a group has set aside to try again.
    func retryKey(of stream: String, _ group: String) -> String { "\(key(of: stream)):retry:\(group)" }

    public func createGroup(_ group: String, on stream: String) async throws(EventBusError) {
        try await attempt("making a consumer group") { () async throws(RedisError) in
            _ = try await client.xgroupCreate(key(of: stream), group: group, from: .beginning)
        }
    }

    public func append(
        _ entries: [OutgoingEntry]
    ) async throws(EventBusError) -> [Result<EntryID, EventBusError>] {
        guard !entries.isEmpty else { return [] }
        let commands = entries.map { RedisCommand.xadd(key(of: $0.stream), fields: $0.fields) }
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

    public func openReader(
        group: String, consumer: String, stream: String
    ) async throws(EventBusError) -> any GroupReader {
        let connection = try await attempt("connecting a reader") { () async throws(RedisError) in
            try await client.dedicatedConnection()
        }
        return RedisGroupReader(
            client: client, connection: connection, key: key(of: stream), group: group, consumer: consumer)
    }

    public func acknowledge(_ ids: [EntryID], group: String, stream: String) async throws(EventBusError) {
        try await attempt("acknowledging") { () async throws(RedisError) in
            _ = try await client.xack(key(of: stream), group: group, ids: ids)
        }
    }

    public func claim(
        group: String, consumer: String, stream: String, minIdle: Duration, cursor: EntryID, count: Int
    ) async throws(EventBusError) -> ClaimedEntries {
        try await attempt("claiming") { () async throws(RedisError) in
            let reply = try await client.eval(
                ConsumerScripts.claim, keys: [key(of: stream)],
                arguments: [group, consumer, minIdle.wholeMilliseconds, cursor, count])
            return try ConsumerScripts.readClaim(reply)
        }
    }

    public func keep(
        _ ids: [EntryID], group: String, consumer: String, stream: String
    ) async throws(EventBusError) -> [EntryID] {
        guard !ids.isEmpty else { return [] }
        return try await attempt("keeping entries") { () async throws(RedisError) in
            let reply = try await client.eval(
                ConsumerScripts.keep, keys: [key(of: stream)],
                arguments: [group, consumer] as [any RedisArgument] + ids as [any RedisArgument])
            return (reply.array ?? []).compactMap { EntryID($0) }
        }
    }

    public func retire(consumer: String, group: String, stream: String) async throws(EventBusError) -> Bool {
        try await attempt("retiring a consumer") { () async throws(RedisError) in
            let reply = try await client.eval(
                ConsumerScripts.retire, keys: [key(of: stream)], arguments: [group, consumer])
            return reply.integer == 1
        }
    }

    public func pendingCount(group: String, stream: String) async throws(EventBusError) -> Int {
        try await attempt("counting pending entries") { () async throws(RedisError) in
            try await client.xpending(key(of: stream), group: group).count
        }
    }

    public func absent(
        _ messages: [PublishedMessage], group: String, stream: String
    ) async throws(EventBusError) -> [PublishedMessage] {
        guard !messages.isEmpty else { return [] }
        return try await attempt("looking for messages") { () async throws(RedisError) in
            var arguments: [any RedisArgument] = [group]
            for message in messages { arguments += [message.entryID, message.id.wireString] as [any RedisArgument] }
            let reply = try await client.eval(
                ConsumerScripts.absent, keys: [key(of: stream), retryKey(of: stream, group)], arguments: arguments)
            return (reply.array ?? []).compactMap(\.integer).map { messages[$0] }
        }
    }

    public func openTail(streams: [String]) async throws(EventBusError) -> any TailReader {
        let connection = try await attempt("connecting a reader") { () async throws(RedisError) in
            try await client.dedicatedConnection()
        }
        let positions = try await attempt("finding the end of streams") { () async throws(RedisError) in
            var positions: [RedisTailReader.Position] = []
            for stream in streams {
                let last = try await connection.send(
                    RedisCommand("XREVRANGE", key(of: stream), "+", "-", "COUNT", 1))
                let id = last.array?.first?.array?.first.flatMap { EntryID($0) }
                positions.append(.init(stream: stream, key: key(of: stream), after: id ?? .zero))
            }
            return positions
        }
        return RedisTailReader(client: client, connection: connection, positions: positions)
    }

    private func attempt<Value>(
        _ doing: String, _ body: () async throws(RedisError) -> Value
    ) async throws(EventBusError) -> Value {
        do throws(RedisError) {
            return try await body()
        } catch {
            throw EventBusError(error, doing)
        }
    }
}

extension Duration {
    var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
