import RedisClient
import Synchronization

/// Reads for one consumer of a group, on a connection of its own.
final class RedisGroupReader: GroupReader {
    private let client: RedisClient
    private let connection: RedisConnection
    /// The keys of the acknowledge script: the stream and the losses.
    private let keys: [String]
    private let consumer: GroupConsumer

    init(client: RedisClient, connection: RedisConnection, keys: [String], consumer: GroupConsumer) {
        self.client = client
        self.connection = connection
        self.keys = keys
        self.consumer = consumer
    }

    func read(
        count: Int, wait: Duration, acknowledging: [EntryID]
    ) async throws(EventBusError) -> ReadEntries {
        do throws(RedisError) {
            let command = SettlementScripts.acknowledge.command(keys: keys, arguments: arguments(acknowledging))
            let isPipelined = !acknowledging.isEmpty && command != nil
            let (batches, replies) = try await connection.xreadgroup(
                group: consumer.group.name, consumer: consumer.name, streams: [keys[0]], count: count, block: wait,
                after: isPipelined ? [command].compactMap { $0 } : [])
            let entries = batches.first?.entries ?? []
            return ReadEntries(
                entries: entries.map { DeliveredEntry(id: EntryID($0.id), fields: $0.fields, deliveryCount: 1) },
                gone: acknowledging.isEmpty ? [] : await gone(of: acknowledging, replies.first))
        } catch {
            throw EventBusError(error, "reading")
        }
    }

    /// Returns the entries that the consumer no longer held when they were acknowledged with the read; nil when that failed.
    private func gone(of ids: [EntryID], _ reply: RedisReply?) async -> [EntryID]? {
        if let reply, reply.error == nil { return Self.ids(reply) }
        // If the server does not know the script, this call sends it. After any other failure the next read acknowledges again.
        let taught = try? await client.eval(SettlementScripts.acknowledge, keys: keys, arguments: arguments(ids))
        return taught.map(Self.ids)
    }

    private func arguments(_ ids: [EntryID]) -> [any RedisArgument] {
        [consumer.group.name, consumer.name] + ids as [any RedisArgument]
    }

    private static func ids(_ reply: RedisReply) -> [EntryID] { (reply.array ?? []).compactMap { EntryID($0) } }

    func interrupt() async {
        // Closing the connection instead could lose a reply on its way, whose entries would wait to be claimed.
        _ = try? await client.unblock(connection)
    }

    func close() async {
        await connection.close()
    }
}

/// Reads the entries that are appended to a stream, on a connection of its own.
final class RedisTailReader: TailReader {
    private let client: RedisClient
    private let connection: RedisConnection
    private let stream: String
    private let key: String
    /// The entry up to which the stream was read.
    private let position: Mutex<EntryID>

    init(client: RedisClient, connection: RedisConnection, stream: String, key: String, after position: EntryID) {
        self.client = client
        self.connection = connection
        self.stream = stream
        self.key = key
        self.position = Mutex(position)
    }

    func read(count: Int, wait: Duration) async throws(EventBusError) -> [TailEntry] {
        let last = position.withLock { $0 }
        do throws(RedisError) {
            let batches = try await connection.xread(streams: [(stream: key, after: last.streamID)], count: count, block: wait)
            let entries = batches.first?.entries ?? []
            if let last = entries.last?.id { position.withLock { $0 = EntryID(last) } }
            return entries.map { TailEntry(stream: stream, id: EntryID($0.id), fields: $0.fields) }
        } catch {
            throw EventBusError(error, "reading")
        }
    }

    func interrupt() async {
        _ = try? await client.unblock(connection)
    }

    func close() async {
        await connection.close()
    }
}
