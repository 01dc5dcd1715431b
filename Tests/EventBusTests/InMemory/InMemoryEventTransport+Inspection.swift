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
        status.dead = known.deadLetters.count
        status.oldestDeadAge = age(known.deadLetters.first?.id)
        let now = ContinuousClock.now
        status.consumers = known.consumers.sorted { $0.key < $1.key }.map { name, heardAt in
            .init(name: name, pending: known.pending.values.filter { $0.consumer == name }.count, idle: now - heardAt)
        }
        return status
    }

    func deadLetters(
        of group: StreamGroup, after id: EntryID, count: Int
    ) async throws(EventBusError) -> [DeadLetter] {
        let letters = stream(group.stream)?.groups[group.name]?.deadLetters ?? []
        return letters.filter { $0.id > id }.prefix(count).map { DeadLetter(id: $0.id, fields: $0.fields) }
    }

    func redrive(_ ids: [EntryID], of group: StreamGroup) async throws(EventBusError) -> [EntryID] {
        let letters = takeDeadLetters(ids, of: group)
        _ = try await append(
            letters.map { letter in
                var fields = DeadLetter(id: letter.id, fields: letter.fields).fields
                fields.append((RetryField.failures, Array("0".utf8)))
                fields.append((RetryField.group, Array(group.name.utf8)))
                return OutgoingEntry(stream: group.stream, fields: fields)
            })
        return letters.map(\.id)
    }

    func drop(_ ids: [EntryID], of group: StreamGroup) async throws(EventBusError) -> Int {
        takeDeadLetters(ids, of: group).count
    }

    private typealias Letter = (id: EntryID, fields: [(name: String, value: [UInt8])])

    private func takeDeadLetters(_ ids: [EntryID], of group: StreamGroup) -> [Letter] {
        changeGroup(group) { known -> [Letter] in
            let taken = known.deadLetters.filter { ids.contains($0.id) }
            known.deadLetters.removeAll { ids.contains($0.id) }
            return taken
        } ?? []
    }
}
