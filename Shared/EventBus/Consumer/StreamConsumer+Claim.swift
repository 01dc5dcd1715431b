import Logging
import Metrics
import RedisClient

extension StreamConsumer {
    /// Takes over what dead consumers left, and gives signs of life for what its own workers have had for a while.
    func claimAndKeep() async {
        var cursor = EntryID.zero
        var round = HeldSnapshot()
        await stopping.wait(upTo: configuration.claimInterval * Double.random(in: 0...1))
        // Handlers may go on after reading has stopped, and their messages still need signs of life.
        while !workEnded.isOpen, !Task.isCancelled {
            do throws(EventBusError) {
                var handsBack = false
                // A suspect that is through has the next claimed at once: that is no time to look what takes long.
                if ContinuousClock.now - round.at >= configuration.claimInterval / 2 { handsBack = try await look(&round) }
                // What was just handed back is for others.
                if !stopping.isOpen { try await claimAll(from: &cursor, isFull: handsBack) }
            } catch  where error.code == .groupMissing {
                cursor = .zero
            } catch {
                scope.logger.debug("Claiming failed; trying again later", metadata: ["error": "\(error)"])
            }
            await claimNow.wait(upTo: configuration.claimInterval.jittered())
        }
    }

    /// What was in hand at one look, for the next to tell what takes long.
    private struct HeldSnapshot {
        var at = ContinuousClock.now - .seconds(3600)
        var held: Set<EntryID> = []
        var waiting: Set<EntryID> = []
        var lost: Set<EntryID> = []
    }

    /// Gives signs of life for what was in hand at the last look already, and hands back what nobody has begun since.
    ///
    /// - Returns: Whether something is handed back.
    private func look(_ last: inout HeldSnapshot) async throws(EventBusError) -> Bool {
        let held = state.heldIDs
        // What was lost is somebody else's: said once.
        last.lost.formIntersection(held)
        last.lost.formUnion(try await keep(last.held.intersection(held).subtracting(last.lost)))
        let waiting = state.waitingIDs
        let overdue = last.waiting.intersection(waiting)
        (last.at, last.held, last.waiting) = (.now, held, waiting)
        state.release(waiting: overdue)
        return !overdue.isEmpty
    }

    /// Gives signs of life and returns the entries that are lost.
    private func keep(_ ids: Set<EntryID>) async throws(EventBusError) -> Set<EntryID> {
        guard !ids.isEmpty else { return [] }
        let gone = try await transport.keep(ids.sorted(), by: scope.address)
        // Those that were just settled are no longer pending, which is no loss.
        let lost = state.heldIDs.intersection(gone)
        lostOwnership(of: Array(lost))
        return lost
    }

    /// Claims until the end of what is pending or until there is no room; the next call goes on from there. A claim is sent
    /// even without room, because it also tells that the group is being tended.
    private func claimAll(from cursor: inout EntryID, isFull: Bool) async throws(EventBusError) {
        repeat {
            var request = ClaimRequest(
                minIdle: configuration.claimMinIdle, cursor: cursor, count: isFull ? 0 : min(state.claimRoom, 100),
                takesSuspect: !state.holdsSuspect, crashBudget: configuration.retryPolicy.maxCrashes)
            request.stallLimit = max(configuration.claimInterval * 2, .seconds(1))
            // What was delivered just before one look at what is held gets its sign of life at the next but one.
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
