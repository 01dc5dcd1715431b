import AsyncPrimitives
import Logging
import Metrics

extension StreamConsumer {
    /// Sends the settlements that no read carries. Under load the next read carries the acknowledgements: they are sent from here once no
    /// read came for them in the time for which they are collected. Dispositions are always sent from here.
    func sendSettlements() async {
        var failures = 0
        while !workEnded.isOpen, !Task.isCancelled {
            await state.settlementAdded.wait()
            var reads: Int
            repeat {
                reads = state.carryingReads
                try? await scope.clock.sleep(for: configuration.acknowledgeLinger)
            } while state.carryingReads != reads && state.hasOnlyAcknowledgements && !workEnded.isOpen && !Task.isCancelled
            if await flush() {
                failures = 0
            } else {
                failures += 1
                await workEnded.wait(upTo: configuration.backoff.delay(afterFailures: failures), clock: scope.clock)
                state.settlementAdded.signal()
            }
        }
    }

    /// Sends all settlements; returns whether that succeeded.
    func flush() async -> Bool {
        guard await sendAcknowledgements(), await send(state.takeDispositions()) else { return false }
        // Dead letters that are stored by now.
        return await sendAcknowledgements()
    }

    private func sendAcknowledgements() async -> Bool {
        let ids = state.takeAcknowledgements()
        guard !ids.isEmpty else { return true }
        do {
            let gone = try await transport.acknowledge(ids, by: scope.address)
            lostOwnership(of: state.acknowledged(ids, gone: gone))
            return true
        } catch {
            scope.metrics.settlementFailures.increment()
            state.requeue(ids)
            scope.logger.debug(
                "Acknowledging failed; trying again", metadata: ["error": "\(error)", "count": "\(ids.count)"])
            return false
        }
    }

    private func send(_ dispositions: [Disposition]) async -> Bool {
        var unsent = dispositions
        do {
            try await send(all: dispositions, &unsent)
        } catch  where error.code == .groupMissing {
            // The server has lost the group and with it all pending entries: no entry can be settled there. Dead letters are stored even
            // so: they do not need Redis.
            let letters = unsent.filter { if case .deadLetter = $0 { true } else { false } }
            let isMixed = !letters.isEmpty && letters.count < unsent.count
            let kept = Set(isMixed ? letters.map(\.id) : [])
            state.applied(unsent.map(\.id).filter { !kept.contains($0) })
            return isMixed ? await send(letters) : true
        } catch  where error.code == .refused && unsent.count > 1 {
            // One of the dispositions is the cause; the others must not wait for it.
            var isSent = true
            for disposition in unsent { isSent = await send([disposition]) && isSent }
            return isSent
        } catch  where error.code == .refused {
            scope.logger.error(
                "The server refuses to settle a message; it stays pending",
                metadata: ["entry": "\(unsent[0].id)", "error": "\(error)"])
            state.applied(unsent.map(\.id))
        } catch {
            scope.metrics.settlementFailures.increment()
            state.requeue(unsent)
            scope.logger.debug(
                "Settling failed; trying again", metadata: ["error": "\(error)", "count": "\(unsent.count)"])
            return false
        }
        return true
    }

    private func send(all dispositions: [Disposition], _ unsent: inout [Disposition]) async throws(EventBusError) {
        guard !dispositions.isEmpty else { return }
        let sorted = Dispositions(dispositions)
        if !sorted.releases.isEmpty {
            sent(sorted.releases, gone: try await transport.release(sorted.releases, by: scope.address), &unsent)
        }
        if !sorted.retries.isEmpty {
            sent(sorted.retries.map(\.id), gone: try await transport.retry(sorted.retries, by: scope.address), &unsent)
            retryAdded.signal()
        }
        if !sorted.deadLetters.isEmpty { try await store(sorted.deadLetters, &unsent) }
    }

    /// Stores dead letters in the database, and then acknowledges their entries. A process that dies in between leaves them pending: the
    /// next consumer finds their marks in the inbox, or gives them up again, which stores nothing new.
    private func store(_ letters: [NewDeadLetter], _ unsent: inout [Disposition]) async throws(EventBusError) {
        // If another consumer has claimed an entry, that consumer decides on it. The other entries are renewed, so that they are not
        // claimed meanwhile. A dead letter whose entry the server has lost is stored: the inbox refuses it if its message was handled, here
        // or elsewhere.
        let gone = Set(try await keep(letters.map(\.entryID)))
        let own = letters.filter { !gone.contains($0.entryID) }
        scope.metrics.dead.increment(by: try await deadLetters.add(own, of: scope.address.group, by: scope.consumer))
        sent(Array(gone), gone: Array(gone), &unsent)
        let stored = Set(own.map(\.entryID))
        unsent.removeAll { stored.contains($0.id) }
        state.acknowledge(Array(stored))
    }

    /// Renews entries and returns those that another consumer has claimed. A group that the server has lost has no pending entries, so no
    /// other consumer has claimed any of them.
    private func keep(_ ids: [EntryID]) async throws(EventBusError) -> [EntryID] {
        do throws(EventBusError) {
            return try await transport.keep(ids, by: scope.address)
        } catch  where error.code == .groupMissing {
            return []
        }
    }

    private func sent(_ ids: [EntryID], gone: [EntryID], _ unsent: inout [Disposition]) {
        lostOwnership(of: gone)
        let sent = Set(ids)
        unsent.removeAll { sent.contains($0.id) }
        state.applied(ids)
    }

    /// Counts entries that another consumer claimed while this one held them. The inbox ensures that they take effect once, but such claims
    /// should not happen.
    func lostOwnership(of ids: [EntryID]) {
        guard !ids.isEmpty else { return }
        scope.metrics.ownershipLost.increment(by: ids.count)
        scope.logger.warning(
            "Another consumer took over messages before they were settled", metadata: ["count": "\(ids.count)"])
    }

    /// Sends the last settlements and deletes the consumer from its group. A later claim by another consumer makes up for a failure.
    func finish() async {
        for attempt in 1...3 {
            if await flush() { break }
            try? await scope.clock.sleep(for: configuration.backoff.delay(afterFailures: attempt))
        }
        do {
            try await transport.retire(scope.address)
        } catch {
            scope.logger.debug("The consumer could not be deleted from its group", metadata: ["error": "\(error)"])
        }
    }
}
