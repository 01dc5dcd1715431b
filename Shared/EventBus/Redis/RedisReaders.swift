import RedisClient
import Synchronization

/// Reads for one consumer of a group, on a connection of its own.
final class RedisGroupReader: GroupReader {
    private let client: RedisClient
    private let connection: RedisConnection
    private let key: String
    private let group: String
    private let consumer: String

    init(client: RedisClient, connection: RedisConnection, key: String, group: String, consumer: String) {
        self.client = client
        self.connection = connection
        self.key = key
        self.group = group
        self.consumer = consumer
    }

    func read(
        count: Int, wait: Duration, acknowledging: [EntryID]
    ) async throws(EventBusError) -> [DeliveredEntry] {
        do throws(RedisError) {
            let batches = try await connection.xreadgroup(
                group: group, consumer: consumer, streams: [key], count: count, block: wait,
                acknowledging: acknowledging.isEmpty ? [] : [(stream: key, ids: acknowledging)])
            guard let batch = batches.first else { return [] }
            return batch.entries.map { DeliveredEntry(id: $0.id, fields: $0.fields, deliveryCount: 1) }
        } catch {
            throw EventBusError(error, "reading")
        }
    }

    func interrupt() async {
        // Closing the connection instead could lose a reply on its way, whose entries would wait to be claimed.
        if let id = connection.clientID { _ = try? await client.unblock(clientID: id) }
    }

    func close() async {
        await connection.close()
    }
}

/// Reads what is appended to streams, on a connection of its own.
final class RedisTailReader: TailReader {
    private let client: RedisClient
    private let connection: RedisConnection
    private let keyPrefix: String
    private let positions: Mutex<[(stream: String, after: EntryID)]>

    init(
        client: RedisClient, connection: RedisConnection, keyPrefix: String, positions: [(stream: String, after: EntryID)]
    ) {
        self.client = client
        self.connection = connection
        self.keyPrefix = keyPrefix
        self.positions = Mutex(positions)
    }

    func read(count: Int, wait: Duration) async throws(EventBusError) -> [TailEntry] {
        let positions = positions.withLock { $0 }
        do throws(RedisError) {
            let batches = try await connection.xread(
                streams: positions.map { (stream: keyPrefix + $0.stream, from: .after($0.after)) }, count: count, block: wait)
            return batches.flatMap(take)
        } catch {
            throw EventBusError(error, "reading")
        }
    }

    private func take(_ batch: RedisStreamBatch) -> [TailEntry] {
        let stream = String(batch.stream.dropFirst(keyPrefix.count))
        if let last = batch.entries.last?.id {
            positions.withLock { positions in
                for index in positions.indices where positions[index].stream == stream { positions[index].after = last }
            }
        }
        return batch.entries.map { TailEntry(stream: stream, id: $0.id, fields: $0.fields) }
    }

    func interrupt() async {
        if let id = connection.clientID { _ = try? await client.unblock(clientID: id) }
    }

    func close() async {
        await connection.close()
    }
}
