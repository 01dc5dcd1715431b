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
        if let id = connection.clientID { _ = try? await client.unblock(clientID: id) }
    }

    func close() async {
        await connection.close()
    }
}

/// Reads the entries that are appended to streams, on a connection of its own.
final class RedisTailReader: TailReader {
    /// The position up to which a stream was read.
    struct Position {
        let stream: String
        let key: String
        var after: EntryID
    }

    private let client: RedisClient
    private let connection: RedisConnection
    private let positions: Mutex<[Position]>

    init(client: RedisClient, connection: RedisConnection, positions: [Position]) {
        self.client = client
        self.connection = connection
        self.positions = Mutex(positions)
    }

    func read(count: Int, wait: Duration) async throws(EventBusError) -> [TailEntry] {
        let positions = positions.withLock { $0 }
        do throws(RedisError) {
            let batches = try await connection.xread(
                streams: positions.map { (stream: $0.key, after: $0.after.streamID) }, count: count, block: wait)
            return batches.flatMap(take)
        } catch {
            throw EventBusError(error, "reading")
        }
    }

    private func take(_ batch: RedisStreamBatch) -> [TailEntry] {
        guard let last = batch.entries.last?.id else { return [] }
        return positions.withLock { positions in
            guard let index = positions.firstIndex(where: { $0.key == batch.stream }) else { return [] }
            positions[index].after = EntryID(last)
            return batch.entries.map { TailEntry(stream: positions[index].stream, id: EntryID($0.id), fields: $0.fields) }
        }
    }

    func interrupt() async {
        if let id = connection.clientID { _ = try? await client.unblock(clientID: id) }
    }

    func close() async {
        await connection.close()
    }
}
