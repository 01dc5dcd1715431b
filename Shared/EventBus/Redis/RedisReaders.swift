import RedisClient
import Synchronization

/// Reads for one consumer of a group, on a connection of its own.
///
/// Acknowledgements travel with the next read. The server checks that the consumer still owns its entries without looking at them: the
/// connection watches the hash of the consumers from which entries were claimed, and an `XACK` in a transaction is not executed when that
/// hash has changed since it was read. A consumer that is in the hash acknowledges by the script, which checks each entry.
final class RedisGroupReader: GroupReader {
    private let client: RedisClient
    private let connection: RedisConnection
    /// The keys of the acknowledge script: the stream and the losses.
    private let keys: [String]
    private let consumer: GroupConsumer
    /// Whether the connection watches the losses, and they did not name this consumer when that began.
    private let ownsAll = Atomic(false)
    private let begin: [RedisCommand]
    private let watch: [RedisCommand]

    init(client: RedisClient, connection: RedisConnection, keys: [String], consumer: GroupConsumer) {
        self.client = client
        self.connection = connection
        self.keys = keys
        self.consumer = consumer
        begin = [RedisCommand("MULTI")]
        watch = [RedisCommand("WATCH", keys[1]), RedisCommand("HEXISTS", keys[1], consumer.name)]
    }

    func read(
        count: Int, wait: Duration, acknowledging: [EntryID]
    ) async throws(EventBusError) -> ReadEntries {
        let isOwner = ownsAll.load(ordering: .relaxed)
        do throws(RedisError) {
            let acknowledgement = acknowledging.isEmpty ? [] : acknowledgement(of: acknowledging, isOwner: isOwner)
            // A transaction ends the watch.
            let renewal = isOwner && acknowledging.isEmpty ? [] : watch
            let (batches, replies) = try await connection.xreadgroup(
                group: consumer.group.name, consumer: consumer.name, streams: [keys[0]], count: count, block: wait,
                after: acknowledgement + renewal)
            if !renewal.isEmpty {
                let isWatching = replies[acknowledgement.count].error == nil && replies.last?.integer == 0
                ownsAll.store(isWatching, ordering: .relaxed)
            }
            let entries = batches.first?.entries ?? []
            return ReadEntries(
                entries: entries.map { DeliveredEntry(id: EntryID($0.id), contents: $0.fields, deliveryCount: 1) },
                gone: acknowledging.isEmpty ? [] : await gone(of: acknowledging, replies.prefix(acknowledgement.count), isOwner: isOwner))
        } catch {
            // The next connection sends WATCH again; the transaction of this connection may be lost.
            ownsAll.store(false, ordering: .relaxed)
            throw EventBusError(error, "reading")
        }
    }

    /// The commands that acknowledge entries: a transaction, or the script; empty while the server has not loaded the script yet.
    private func acknowledgement(of ids: [EntryID], isOwner: Bool) -> [RedisCommand] {
        if isOwner {
            return begin + [.xack(keys[0], group: consumer.group.name, ids: ids.map(\.streamID)), RedisCommand("EXEC")]
        }
        return [SettlementScripts.acknowledge.command(keys: keys, arguments: arguments(ids))].compactMap { $0 }
    }

    /// Returns the entries that the consumer no longer held when they were acknowledged with the read; nil when that failed.
    private func gone(of ids: [EntryID], _ replies: ArraySlice<RedisReply>, isOwner: Bool) async -> [EntryID]? {
        if let reply = replies.last, reply.error == nil {
            if !isOwner { return Self.ids(reply) }
            // Null when entries were claimed meanwhile, from this consumer or from another: no entry is acknowledged yet.
            if reply.array?.first?.integer != nil { return [] }
        }
        // If the server does not know the script, this call sends it. After any other failure the next read acknowledges again.
        let taught = try? await client.eval(SettlementScripts.acknowledge, keys: keys, arguments: arguments(ids))
        return taught.map(Self.ids)
    }

    private func arguments(_ ids: [EntryID]) -> [any RedisArgument] {
        [consumer.group.name, consumer.name] + ids as [any RedisArgument]
    }

    private static func ids(_ reply: RedisReply) -> [EntryID] { (reply.array ?? []).compactMap { EntryID($0) } }

    func interrupt() async {
        // Closing the connection instead could lose a reply on its way, and its entries would wait until they are claimed.
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
            return entries.map { TailEntry(stream: stream, id: EntryID($0.id), contents: $0.fields) }
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
