import FoundationEssentials

@testable import EventBus

extension InMemoryEventTransport {
    func absent(
        _ messages: [PublishedMessage], from group: StreamGroup
    ) async throws(EventBusError) -> [PublishedMessage] {
        let stream = stream(group.stream)
        return messages.filter { stream?.isBefore(group: group.name, $0) != true }
    }

    func status(of group: StreamGroup) async throws(EventBusError) -> GroupStatus {
        var status = GroupStatus()
        guard let stream = stream(group.stream) else { return status }
        status.length = stream.entries.count
        status.appended = stream.appended
        guard let known = stream.groups[group.name] else { return status }
        func age(_ id: EntryID?) -> Duration? {
            id.map { .milliseconds(max(0, Int(Self.milliseconds) - Int($0.milliseconds))) }
        }
        status.undelivered = stream.entries.count - known.next
        status.oldestUndeliveredAge = age(stream.entries[known.next...].first?.id)
        status.pending = known.pending.count
        status.oldestPendingAge = age(known.pending.keys.min())
        status.retrying = known.retries.count
        let now = ContinuousClock.now
        status.consumers = known.consumers.sorted { $0.key < $1.key }.map { name, heardAt in
            .init(name: name, pending: known.pending.values.filter { $0.consumer == name }.count, idle: now - heardAt)
        }
        return status
    }
}
