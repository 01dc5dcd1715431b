import FoundationEssentials
import RedisClient

@testable import EventBus

/// A transport whose pending entries a test can age: idle time is measured by the server's clock, which tests cannot set.
protocol TestTransport: EventTransport {
    /// Makes pending entries of a consumer look as if they had been delivered or renewed so long ago.
    func age(_ ids: [EntryID], of consumer: GroupConsumer, to idle: Duration) async throws

    /// Returns the time since a pending entry was delivered or renewed; nil when it is not pending.
    func idleTime(of id: EntryID, in group: StreamGroup) async throws -> Duration?
}

extension RedisEventTransport: TestTransport {
    func age(_ ids: [EntryID], of consumer: GroupConsumer, to idle: Duration) async throws {
        for id in ids {
            _ = try await client.send(
                RedisCommand(
                    "XCLAIM", key(of: consumer.group.stream), consumer.group.name, consumer.name, "0", id.description, "IDLE",
                    "\(Int(idle / .milliseconds(1)))", "JUSTID"))
        }
    }

    func idleTime(of id: EntryID, in group: StreamGroup) async throws -> Duration? {
        let command = RedisCommand("XPENDING", key(of: group.stream), group.name, id.description, id.description, "1")
        return try await client.send(command).array?.first?.array?[2].integer.map { .milliseconds($0) }
    }
}

extension InMemoryEventTransport: TestTransport {
    func age(_ ids: [EntryID], of consumer: GroupConsumer, to idle: Duration) async throws {
        _ = changeGroup(consumer.group) { group in
            for id in ids where group.holds(id, consumer.name) { group.pending[id]?.deliveredAt = .now - idle }
        }
    }

    func idleTime(of id: EntryID, in group: StreamGroup) async throws -> Duration? {
        stream(group.stream)?.groups[group.name]?.pending[id].map { .now - $0.deliveredAt }
    }
}
