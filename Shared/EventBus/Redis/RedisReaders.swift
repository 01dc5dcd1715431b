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
    /// How far a stream was read.
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
                streams: positions.map { (stream: $0.key, from: .after($0.after)) }, count: count, block: wait)
            return batches.flatMap(take)
        } catch {
            throw EventBusError(error, "reading")
        }
    }

    private func take(_ batch: RedisStreamBatch) -> [TailEntry] {
        guard let last = batch.entries.last?.id else { return [] }
        return positions.withLock { positions in
            guard let index = positions.firstIndex(where: { $0.key == batch.stream }) else { return [] }
            positions[index].after = last
            return batch.entries.map { TailEntry(stream: positions[index].stream, id: $0.id, fields: $0.fields) }
        }
    }

    func interrupt() async {
        if let id = connection.clientID { _ = try? await client.unblock(clientID: id) }
    }

    func close() async {
        await connection.close()
    }
}
