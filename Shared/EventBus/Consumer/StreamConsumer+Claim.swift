import AsyncPrimitives
import Logging
import Metrics

extension StreamConsumer {
    /// Sends heartbeats, claims the entries of dead consumers, and renews this consumer's entries whose handlers take long.
    func claimAndKeep() async {
        let clock = scope.clock
        var cursor = EntryID.zero
        var round = HeldSnapshot()
        var lifeline: (any Lifeline)?
        var handsBack = false
        // Before the first heartbeat, because the others take the end of a lifeline for a death only if a heartbeat has seen it.
        await connect(&lifeline)
        // Handlers may go on after reading has stopped, and others must not take this consumer for dead.
        while !workEnded.isOpen, !Task.isCancelled {
            var wait = configuration.heartbeatInterval.jittered()
            do throws(EventBusError) {
                let answer = try await transport.beat(configuration.heartbeatLimits, by: scope.address)
                if !answer.hasLifeline { await connect(&lifeline) }
                if let end = answer.graceEndsIn { wait = min(wait, max(end, Self.minWait)) }
                let isRound = round.isOver(clock.now, configuration.claimInterval)
                if isRound { handsBack = try await renewAndRelease(&round) }
                if !stopping.isOpen, !(isRound && handsBack) {
                    // Entries that were just released are for other consumers.
                    let holders = answer.claimable.filter { !handsBack || $0 != GroupConsumer.released }
                    for holder in holders { try await claimAll(of: holder) }
                    if isRound, answer.calm >= configuration.renewalTime {
                        try await claimIdle(from: &cursor)
                    }
                }
            } catch  where error.code == .groupMissing {
                cursor = .zero
            } catch {
                scope.logger.debug("A heartbeat or a claim failed; trying again later", metadata: ["error": "\(error)"])
            }
            hasBeaten.open()
            await claimNow.wait(upTo: wait, clock: clock)
        }
        hasBeaten.open()
        await lifeline?.close()
    }

    /// The least time between two heartbeats.
    private static var minWait: Duration { .milliseconds(10) }

    /// Opens a new lifeline when the server has lost the old one. Without a lifeline, this consumer's death is noticed later.
    private func connect(_ lifeline: inout (any Lifeline)?) async {
        await lifeline?.close()
        lifeline = nil
        do {
            lifeline = try await transport.openLifeline(scope.address)
        } catch {
            scope.logger.debug("A lifeline could not be opened; trying again", metadata: ["error": "\(error)"])
        }
    }

    /// The entries held at the last interval. Entries that are still held at the next interval take long.
    private struct HeldSnapshot {
        /// When it was taken; nil before the first.
        var at: ContinuousClock.Instant?
        var held: Set<EntryID> = []
        var waiting: Set<EntryID> = []
        var lost: Set<EntryID> = []

        func isOver(_ now: ContinuousClock.Instant, _ age: Duration) -> Bool { at.map { now - $0 >= age } ?? true }
    }

    /// Renews the entries that were already held at the last interval, and releases the ones that no worker has begun since.
    ///
    /// - Returns: Whether entries are released.
    private func renewAndRelease(_ last: inout HeldSnapshot) async throws(EventBusError) -> Bool {
        let held = state.heldIDs
        // Another consumer has claimed the lost ones; each is logged once.
        last.lost.formIntersection(held)
        last.lost.formUnion(try await keep(last.held.intersection(held).subtracting(last.lost)))
        let waiting = state.waitingIDs
        let overdue = last.waiting.intersection(waiting)
        (last.at, last.held, last.waiting) = (scope.clock.now, held, waiting)
        state.release(waiting: overdue)
        return !overdue.isEmpty
    }

    /// Renews entries and returns those that other consumers have claimed.
    private func keep(_ ids: Set<EntryID>) async throws(EventBusError) -> Set<EntryID> {
        guard !ids.isEmpty else { return [] }
        let gone = try await transport.keep(ids.sorted(), by: scope.address)
        // Entries that were just settled are not pending any more; that is not a loss of ownership.
        let lost = state.held(of: gone)
        lostOwnership(of: lost)
        return Set(lost)
    }

    /// Claims the entries of a dead consumer, or the released ones, until no entry is left or there is no room.
    private func claimAll(of holder: String) async throws(EventBusError) {
        var cursor = EntryID.zero
        repeat {
            try await claim(&cursor, of: holder, minIdle: .zero, minCalm: configuration.heartbeatLimits.holdOff)
        } while cursor != .zero && state.claimRoom > 0 && !stopping.isOpen
    }

    /// Claims entries that their consumers do not renew until the end of the pending entries or until there is no room; the next call
    /// continues there.
    private func claimIdle(from cursor: inout EntryID) async throws(EventBusError) {
        repeat {
            try await claim(&cursor, of: nil, minIdle: configuration.claimMinIdle, minCalm: configuration.renewalTime)
        } while cursor != .zero && state.claimRoom > 0 && !stopping.isOpen
    }

    private func claim(
        _ cursor: inout EntryID, of holder: String?, minIdle: Duration, minCalm: Duration
    ) async throws(EventBusError) {
        let room = min(state.claimRoom, 100)
        guard room > 0 else { return }
        let request = ClaimRequest(
            holder: holder, minIdle: minIdle, cursor: cursor, count: room, takesSuspect: !state.holdsSuspect,
            crashBudget: configuration.retryPolicy.maxCrashes, maxPulseAge: configuration.heartbeatLimits.stall, minCalm: minCalm)
        let claimed = try await transport.claim(request, for: scope.address)
        cursor = claimed.cursor
        if !claimed.lost.isEmpty {
            scope.metrics.lost.increment(by: claimed.lost.count)
            scope.logger.error("Pending messages are no longer in their stream", metadata: ["count": "\(claimed.lost.count)"])
        }
        if !claimed.entries.isEmpty {
            // Released entries are no sign of a death.
            if holder != GroupConsumer.released { scope.metrics.claimed.increment(by: claimed.entries.count) }
            scope.logger.info(
                "Claimed messages", metadata: ["count": "\(claimed.entries.count)", "holder": "\(holder ?? "any, because they were idle")"])
            take(claimed.entries)
        }
    }
}
