import RedisClient
import WireFormat

/// One stream of the in-memory transport: plain values, told what time it is.
struct InMemoryStream {
    private struct Pending {
        var consumer: String
        var deliveredAt: ContinuousClock.Instant
        var deliveryCount: Int
    }

    private struct Group {
        var next = 0
        var pending: [EntryID: Pending] = [:]
        var consumers: Set<String> = []
    }

    private var entries: [(id: EntryID, fields: [StreamField])] = []
    private var groups: [String: Group] = [:]

    var lastID: EntryID { entries.last?.id ?? .zero }

    mutating func append(_ fields: [StreamField], milliseconds: UInt64) -> EntryID {
        let last = lastID
        let id =
            milliseconds > last.milliseconds
            ? EntryID(milliseconds: milliseconds, sequence: 0)
            : EntryID(milliseconds: last.milliseconds, sequence: last.sequence + 1)
        entries.append((id, fields))
        return id
    }

    mutating func createGroup(_ name: String) {
        if groups[name] == nil { groups[name] = Group() }
    }

    mutating func destroyGroup(_ name: String) {
        groups[name] = nil
    }

    mutating func read(
        group name: String, consumer: String, count: Int, now: ContinuousClock.Instant
    ) throws(EventBusError) -> [DeliveredEntry] {
        guard var group = groups[name] else { throw Self.missing }
        let end = min(entries.count, group.next + count)
        guard group.next < end else { return [] }
        let fresh = entries[group.next..<end]
        group.next = end
        group.consumers.insert(consumer)
        for entry in fresh {
            group.pending[entry.id] = Pending(consumer: consumer, deliveredAt: now, deliveryCount: 1)
        }
        groups[name] = group
        return fresh.map { DeliveredEntry(id: $0.id, fields: $0.fields, deliveryCount: 1) }
    }

    mutating func acknowledge(_ ids: [EntryID], group: String) {
        for id in ids { groups[group]?.pending[id] = nil }
    }

    mutating func claim(
        group name: String, consumer: String, minIdle: Duration, cursor: EntryID, count: Int, now: ContinuousClock.Instant
    ) throws(EventBusError) -> ClaimedEntries {
        guard var group = groups[name] else { throw Self.missing }
        let idle = group.pending
            .filter { $0.key >= cursor && now - $0.value.deliveredAt >= minIdle }
            .keys.sorted()
        var claimed: [DeliveredEntry] = []
        for id in idle.prefix(count) {
            let deliveries = (group.pending[id]?.deliveryCount ?? 0) + 1
            group.pending[id] = Pending(consumer: consumer, deliveredAt: now, deliveryCount: deliveries)
            group.consumers.insert(consumer)
            claimed.append(DeliveredEntry(id: id, fields: fields(of: id), deliveryCount: deliveries))
        }
        groups[name] = group
        return ClaimedEntries(entries: claimed, cursor: idle.dropFirst(count).first ?? .zero, lost: [])
    }

    mutating func keep(
        _ ids: [EntryID], group name: String, consumer: String, now: ContinuousClock.Instant
    ) throws(EventBusError) -> [EntryID] {
        guard groups[name] != nil else { throw Self.missing }
        var gone: [EntryID] = []
        for id in ids {
            if groups[name]?.pending[id]?.consumer == consumer {
                groups[name]?.pending[id]?.deliveredAt = now
            } else {
                gone.append(id)
            }
        }
        return gone
    }

    mutating func retire(consumer: String, group: String) -> Bool {
        guard groups[group]?.pending.values.contains(where: { $0.consumer == consumer }) == false else { return false }
        return groups[group]?.consumers.remove(consumer) != nil
    }

    func pendingCount(group: String) -> Int { groups[group]?.pending.count ?? 0 }

    /// Whether a group was not given a message yet or has it pending.
    func isBefore(group name: String, _ message: PublishedMessage) -> Bool {
        let next = index(after: message.entryID)
        guard next > 0, entries[next - 1].id == message.entryID else { return false }
        guard let group = groups[name] else { return true }
        return next > group.next || group.pending[message.entryID] != nil
    }

    func consumers(group: String) -> Set<String> { groups[group]?.consumers ?? [] }

    func entries(after id: EntryID, count: Int) -> [(id: EntryID, fields: [StreamField])] {
        Array(entries[index(after: id)...].prefix(count))
    }

    private func fields(of id: EntryID) -> [StreamField] {
        let index = index(after: id) - 1
        return index >= 0 ? entries[index].fields : []
    }

    /// The position of the first entry after `id`, by bisection.
    private func index(after id: EntryID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id <= id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static var missing: EventBusError { EventBusError(.groupMissing, "there is no such group") }
}
