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
    private struct Heartbeat {
        let at: ContinuousClock.Instant
        let hadLifeline: Bool
        var lostAt: ContinuousClock.Instant?
    }

    /// The last heartbeat of each consumer.
    private var heartbeats: [String: Heartbeat] = [:]
    /// The number of open lifelines of each consumer.
    var lifelines: [String: Int] = [:]
    private var beatenAt: ContinuousClock.Instant?
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

    mutating func beat(_ limits: HeartbeatLimits, by consumer: String, now: ContinuousClock.Instant) -> HeartbeatAnswer {
        if beatenAt.map({ now - $0 > limits.stall }) ?? true { stallEndedAt = now }
        beatenAt = now
        heartbeats[consumer] = Heartbeat(at: now, hadLifeline: hasLifeline(consumer))
        let calm = stallEndedAt.map { now - $0 } ?? .zero
        var claimable: [String] = []
        for name in Set(pending.values.map(\.consumer)).sorted() where name != consumer {
            if name == GroupConsumer.released || (isDead(name, limits, now: now) && calm >= limits.holdOff) { claimable.append(name) }
        }
        let holders = Set(pending.values.map(\.consumer))
        let ends = heartbeats.filter { holders.contains($0.key) }.compactMap { $0.value.lostAt.map { $0 + limits.lifelineGrace - now } }
        return HeartbeatAnswer(
            claimable: claimable, hasLifeline: hasLifeline(consumer), calm: calm, graceEndsIn: ends.filter { $0 > .zero }.min())
    }

    private mutating func isDead(_ name: String, _ limits: HeartbeatLimits, now: ContinuousClock.Instant) -> Bool {
        guard let last = heartbeats[name] else {
            heartbeats[name] = Heartbeat(at: now, hadLifeline: false)
            return false
        }
        if now - last.at > limits.silence { return true }
        if !last.hadLifeline || hasLifeline(name) { return false }
        if let lostAt = last.lostAt { return now - lostAt >= limits.lifelineGrace }
        heartbeats[name]?.lostAt = now
        return false
    }

    private func hasLifeline(_ name: String) -> Bool { lifelines[name, default: 0] > 0 }

    /// Returns the entries that a claim takes, in ascending order, and the cursor for the next one.
    func pick(_ request: ClaimRequest, now: ContinuousClock.Instant) -> (ids: [EntryID], cursor: EntryID) {
        if request.holder != GroupConsumer.released, let maxAge = request.maxPulseAge {
            guard let beatenAt, now - beatenAt <= maxAge, now - (stallEndedAt ?? now) >= request.minCalm else { return ([], .zero) }
        }
        var takesSuspect = request.takesSuspect
        var ids: [EntryID] = []
        for id in pending.keys.sorted() where id > request.cursor {
            guard let entry = pending[id], now - entry.deliveredAt >= request.minIdle else { continue }
            guard request.holder == nil || entry.consumer == request.holder else { continue }
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
