import WireFormat

@testable import EventBus

/// A group of an in-memory stream: a value type whose clock is a parameter.
struct InMemoryGroup {
    struct Pending {
        var consumer: String
        var deliveredAt: ContinuousClock.Instant
        var deliveryCount: Int

        func isSuspect(_ request: ClaimRequest) -> Bool { deliveryCount >= 2 && deliveryCount < request.crashBudget }
    }

    struct Retry {
        var fields: [StreamField]
        var dueAt: ContinuousClock.Instant
    }

    /// The position of the first undelivered entry.
    var next = 0
    var pending: [EntryID: Pending] = [:]
    /// The time of the last delivery, claim or renewal of each consumer.
    var consumers: [String: ContinuousClock.Instant] = [:]
    /// The scheduled retries, by message id.
    var retries: [[UInt8]: Retry] = [:]
    var deadLetters: [(id: EntryID, fields: [StreamField])] = []
    private var maintainedAt: ContinuousClock.Instant?
    private var stallEndedAt: ContinuousClock.Instant?

    /// Returns whether a consumer holds an entry.
    func holds(_ id: EntryID, _ consumer: String) -> Bool { pending[id]?.consumer == consumer }

    mutating func give(_ id: EntryID, to consumer: String, count: Int, now: ContinuousClock.Instant) {
        pending[id] = Pending(consumer: consumer, deliveredAt: now, deliveryCount: count)
        consumers[consumer] = now
    }

    mutating func release(_ id: EntryID, now: ContinuousClock.Instant) {
        guard let entry = pending[id] else { return }
        give(id, to: GroupConsumer.released, count: max(0, entry.deliveryCount - 1), now: now - .seconds(3600))
    }

    /// Returns the entries that a claim takes, in ascending order, and the cursor for the next one.
    mutating func pick(_ request: ClaimRequest, now: ContinuousClock.Instant) -> (ids: [EntryID], cursor: EntryID) {
        if maintainedAt.map({ now - $0 > request.stallLimit }) ?? true { stallEndedAt = now }
        maintainedAt = now
        guard request.count > 0 else { return ([], .zero) }
        let givesAll = stallEndedAt.map { now - $0 >= min(request.holdOff, request.minIdle) } ?? true
        var takesSuspect = request.takesSuspect
        var ids: [EntryID] = []
        for id in pending.keys.sorted() where id > request.cursor {
            guard let entry = pending[id], now - entry.deliveredAt >= request.minIdle else { continue }
            guard givesAll || entry.consumer == GroupConsumer.released else { continue }
            if entry.isSuspect(request) {
                guard takesSuspect else { continue }
                takesSuspect = false
            }
            ids.append(id)
            if ids.count == request.count { return (ids, id) }
        }
        return (ids, .zero)
    }

    /// Takes the due retries, and returns the time until the next one is due.
    mutating func takeDue(_ limit: Int, now: ContinuousClock.Instant) -> (due: [[StreamField]], nextIn: Duration?) {
        let due = retries.filter { $0.value.dueAt <= now }.sorted { $0.value.dueAt < $1.value.dueAt }.prefix(limit)
        for (message, _) in due { retries[message] = nil }
        return (due.map(\.value.fields), retries.values.map(\.dueAt).min().map { max(.zero, $0 - now) })
    }

    mutating func retireIdle(_ idle: Duration, now: ContinuousClock.Instant) -> Int {
        let busy = Set(pending.values.map(\.consumer))
        let names = consumers.filter { now - $0.value > idle && !busy.contains($0.key) }.keys
        for name in names { consumers[name] = nil }
        return names.count
    }
}
