import WireFormat

@testable import EventBus

/// A stream of the in-memory transport: a value type whose clock is a parameter.
struct InMemoryStream {
    private(set) var entries: [(id: EntryID, fields: [StreamField])] = []
    private(set) var lastID = EntryID.zero
    private(set) var appended = 0
    var groups: [String: InMemoryGroup] = [:]

    mutating func append(_ fields: [StreamField], milliseconds: UInt64) -> EntryID {
        lastID =
            milliseconds > lastID.milliseconds
            ? EntryID(milliseconds: milliseconds, sequence: 0)
            : EntryID(milliseconds: lastID.milliseconds, sequence: lastID.sequence + 1)
        entries.append((lastID, fields))
        appended += 1
        return lastID
    }

    mutating func createGroup(_ name: String) {
        if groups[name] == nil { groups[name] = InMemoryGroup() }
    }

    mutating func read(
        _ consumer: GroupConsumer, count: Int, now: ContinuousClock.Instant
    ) throws(EventBusError) -> [DeliveredEntry] {
        var group = try group(consumer.group.name)
        let end = min(entries.count, group.next + count)
        guard group.next < end else { return [] }
        let fresh = entries[group.next..<end]
        group.next = end
        for entry in fresh { group.give(entry.id, to: consumer.name, count: 1, now: now) }
        groups[consumer.group.name] = group
        return fresh.map { DeliveredEntry(id: $0.id, fields: $0.fields, deliveryCount: 1) }
    }

    /// Settles each entry that the consumer holds, and returns the others.
    mutating func settle(
        _ ids: [EntryID], _ consumer: GroupConsumer, _ body: (inout InMemoryGroup, EntryID) -> Void
    ) -> [EntryID] {
        guard var group = groups[consumer.group.name] else { return ids }
        var gone: [EntryID] = []
        for id in ids {
            if group.holds(id, consumer.name) { body(&group, id) } else { gone.append(id) }
        }
        groups[consumer.group.name] = group
        return gone
    }

    mutating func claim(
        _ request: ClaimRequest, _ consumer: GroupConsumer, now: ContinuousClock.Instant
    ) throws(EventBusError) -> ClaimedEntries {
        var group = try group(consumer.group.name)
        let (ids, cursor) = group.pick(request, now: now)
        var claimed: [DeliveredEntry] = []
        for id in ids {
            guard let pending = group.pending[id] else { continue }
            let deliveries = pending.deliveryCount + 1
            group.give(id, to: consumer.name, count: pending.isSuspect(request) ? deliveries - 1 : deliveries, now: now)
            claimed.append(DeliveredEntry(id: id, fields: fields(of: id), deliveryCount: deliveries))
        }
        groups[consumer.group.name] = group
        return ClaimedEntries(entries: claimed, cursor: cursor, lost: [])
    }

    mutating func beat(
        _ limits: HeartbeatLimits, _ consumer: GroupConsumer, now: ContinuousClock.Instant
    ) throws(EventBusError) -> HeartbeatAnswer {
        var group = try group(consumer.group.name)
        defer { groups[consumer.group.name] = group }
        return group.beat(limits, by: consumer.name, now: now)
    }

    /// Deletes the entries that all groups have settled; the last delivered one stays while others follow it, as in Redis.
    mutating func trim(ungroupedBefore milliseconds: UInt64?) -> Int {
        let needed = groups.values.map { group in
            group.pending.keys.min() ?? (group.next > 0 ? entries[group.next - 1].id : .zero)
        }
        let first = needed.min() ?? milliseconds.map { EntryID(milliseconds: $0, sequence: 0) } ?? .zero
        let isSettled = !groups.isEmpty && groups.values.allSatisfy(\.pending.isEmpty) && entries.last?.id == first
        let count = isSettled ? entries.count : entries.prefix { $0.id < first }.count
        entries.removeFirst(count)
        for name in groups.keys { groups[name]?.next -= count }
        return count
    }

    /// Returns whether a message is undelivered or pending in a group.
    func isBefore(group name: String, _ message: PublishedMessage) -> Bool {
        if groups[name]?.retries[Array(message.id.wireString.utf8)] != nil { return true }
        let next = index(after: message.entryID)
        guard next > 0, entries[next - 1].id == message.entryID else { return false }
        guard let group = groups[name] else { return true }
        return next > group.next || group.pending[message.entryID] != nil
    }

    func entries(after id: EntryID, count: Int) -> [(id: EntryID, fields: [StreamField])] {
        Array(entries[index(after: id)...].prefix(count))
    }

    func fields(of id: EntryID) -> [StreamField] {
        let index = index(after: id) - 1
        return index >= 0 && entries[index].id == id ? entries[index].fields : []
    }

    private func group(_ name: String) throws(EventBusError) -> InMemoryGroup {
        guard let group = groups[name] else { throw EventBusError(.groupMissing, "there is no such group") }
        return group
    }

    /// Returns the position of the first entry after `id`, by bisection.
    private func index(after id: EntryID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id <= id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
