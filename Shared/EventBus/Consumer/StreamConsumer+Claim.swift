import AsyncPrimitives
import Logging
import Metrics

extension StreamConsumer {
    /// Claims the entries of dead consumers, and renews this consumer's entries whose handlers take long.
    func claimAndKeep() async {
        var cursor = EntryID.zero
        let clock = scope.clock
        var round = HeldSnapshot()
        await stopping.wait(upTo: configuration.claimInterval * Double.random(in: 0...1), clock: clock)
        // Handlers may go on after reading has stopped, and their entries still have to be renewed.
        while !workEnded.isOpen, !Task.isCancelled {
            do throws(EventBusError) {
                var handsBack = false
                // After a suspect the next one is claimed at once; that claim must not count as an interval.
                if round.isOver(clock.now, configuration.claimInterval / 2) { handsBack = try await renewAndRelease(&round) }
                // Entries that were just released are for other consumers.
                if !stopping.isOpen { try await claimAll(from: &cursor, isFull: handsBack) }
            } catch  where error.code == .groupMissing {
                cursor = .zero
            } catch {
                scope.logger.debug("Claiming failed; trying again later", metadata: ["error": "\(error)"])
            }
            await claimNow.wait(upTo: configuration.claimInterval.jittered(), clock: clock)
        }
    }

    /// The entries held at the last interval, from which the next one knows those that take long.
    private struct HeldSnapshot {
        /// When it was taken; nil before the first.
        var at: ContinuousClock.Instant?
        var held: Set<EntryID> = []
        var waiting: Set<EntryID> = []
        var lost: Set<EntryID> = []

        func isOver(_ now: ContinuousClock.Instant, _ age: Duration) -> Bool { at.map { now - $0 >= age } ?? true }
    }

    /// Renews the entries that were held at the last interval already, and releases those that no worker has begun since.
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
        // Those that were just settled are no longer pending, which is no loss.
        let lost = state.heldIDs.intersection(gone)
        lostOwnership(of: Array(lost))
        return lost
    }

    /// Claims until the end of the pending entries or until there is no room; the next call continues there. A claim is sent even
    /// without room, because it also records that the group is being maintained.
    private func claimAll(from cursor: inout EntryID, isFull: Bool) async throws(EventBusError) {
        repeat {
            var request = ClaimRequest(
                minIdle: configuration.claimMinIdle, cursor: cursor, count: isFull ? 0 : min(state.claimRoom, 100),
                takesSuspect: !state.holdsSuspect, crashBudget: configuration.retryPolicy.maxCrashes)
            request.stallLimit = max(configuration.claimInterval * 2, .seconds(1))
            // An entry that was delivered just before an interval is renewed at the next but one.
            request.holdOff = configuration.claimInterval * 2.7
            let claimed = try await transport.claim(request, for: scope.address)
            cursor = claimed.cursor
            if !claimed.lost.isEmpty {
                scope.metrics.lost.increment(by: claimed.lost.count)
                scope.logger.error(
                    "Pending messages are no longer in their stream", metadata: ["count": "\(claimed.lost.count)"])
            }
            if !claimed.entries.isEmpty {
                scope.metrics.claimed.increment(by: claimed.entries.count)
                scope.logger.info("Claimed messages", metadata: ["count": "\(claimed.entries.count)"])
                take(claimed.entries)
            }
        } while cursor != .zero && !stopping.isOpen
    }
}
