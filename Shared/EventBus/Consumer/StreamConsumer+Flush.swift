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
        let ids = state.takeAcknowledgements()
        let dispositions = state.takeDispositions()
        do {
            if !ids.isEmpty {
                let gone = try await transport.acknowledge(ids, by: scope.address)
                lostOwnership(of: state.acknowledged(ids, gone: gone))
            }
        } catch {
            scope.metrics.settlementFailures.increment()
            state.requeue(ids)
            state.requeue(dispositions)
            scope.logger.debug(
                "Acknowledging failed; trying again", metadata: ["error": "\(error)", "count": "\(ids.count)"])
            return false
        }
        return await send(dispositions)
    }

    private func send(_ dispositions: [Disposition]) async -> Bool {
        var unsent = dispositions
        do {
            try await send(all: dispositions, &unsent)
        } catch  where error.code == .groupMissing {
            // The server has lost the group and with it all pending entries: nothing is left to settle.
            state.applied(unsent.map(\.id))
        } catch  where error.code == .refused && unsent.count > 1 {
            // One of them is the cause; the others must not wait for it.
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
        return await reportDeadLetters()
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
        if !sorted.deadLetterRequests.isEmpty {
            let gone = try await transport.deadLetter(sorted.deadLetterRequests, by: scope.address)
            sent(sorted.deadLetterRequests.map(\.id), gone: gone, &unsent)
            let deadLettered = sorted.deadLetterRequests.filter { !gone.contains($0.id) }
            scope.metrics.dead.increment(by: deadLettered.count)
            state.recordDeadLetters(deadLettered.compactMap(\.messageID))
        }
    }

    private func sent(_ ids: [EntryID], gone: [EntryID], _ unsent: inout [Disposition]) {
        lostOwnership(of: gone)
        let sent = Set(ids)
        unsent.removeAll { sent.contains($0.id) }
        state.applied(ids)
    }

    /// Marks the dead-lettered messages in the database. This follows the dead-lettering on the server, which checks that this
    /// consumer held them; after a crash in between, the republisher sends such a message once more.
    private func reportDeadLetters() async -> Bool {
        let ids = state.takeDeadLetterIDs()
        guard !ids.isEmpty else { return true }
        do {
            try await onDeadLetters(ids)
            return true
        } catch {
            state.recordDeadLetters(ids)
            scope.logger.debug("Marking dead letters in the outbox failed; retrying", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Counts entries that another consumer claimed while this one held them. The inbox lets them take effect once, but it should not
    /// happen.
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
