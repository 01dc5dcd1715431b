import AsyncPrimitives
import Logging
import Metrics

extension StreamConsumer {
    /// Adds delivered entries: those for the workers, and those that are settled without handling.
    func take(_ entries: [DeliveredEntry]) {
        let maxCrashes = configuration.retryPolicy.maxCrashes
        if entries.allSatisfy({ $0.onlyGroup == nil && $0.crashes < maxCrashes }) { return state.add(entries) }
        var foreign: [EntryID] = []
        var dispositions: [Disposition] = []
        var work: [DeliveredEntry] = []
        work.reserveCapacity(entries.count)
        for entry in entries {
            if let only = entry.onlyGroup, only != scope.group {
                foreign.append(entry.id)
            } else if entry.crashes >= maxCrashes {
                dispositions.append(deadLetter(entry, .crashes, "\(entry.crashes) consumers ended while they held the message"))
            } else {
                work.append(entry)
            }
        }
        if !foreign.isEmpty || !dispositions.isEmpty { state.settle(unseen: foreign, dispositions) }
        state.add(work)
    }

    /// Settles a worker's entries: acknowledges those with a committed effect and decides the disposition of the others.
    func settle(_ unit: [DeliveredEntry], _ results: [ProcessingResult]) {
        var committed: [EntryID] = []
        committed.reserveCapacity(unit.count)
        var dispositions: [Disposition] = []
        var unclear: [DeliveredEntry] = []
        for (entry, result) in zip(unit, results) {
            switch result {
            case .handled:
                scope.metrics.handled.increment()
                committed.append(entry.id)
            case .duplicate:
                scope.metrics.duplicates.increment()
                committed.append(entry.id)
            case .failed(let error) where unit.count > 1 && !stopping.isOpen && RetryPolicy.isAmbiguousInBatch(error):
                unclear.append(entry)
            case .failed(let error):
                dispositions.append(disposition(of: entry, error))
            case .unreadable(let error):
                scope.metrics.unreadable.increment()
                dispositions.append(deadLetter(entry, .unreadable, "\(error)"))
            }
        }
        if !unclear.isEmpty {
            state.retryIndividually(on: unclear)
            scope.logger.warning(
                "A batch took too long; its messages are handled one by one", metadata: ["count": "\(unclear.count)"])
        }
        state.settle(acknowledged: committed, dispositions)
    }

    private func disposition(of entry: DeliveredEntry, _ error: any Error) -> Disposition {
        let logger = scope.logger(for: entry.id, entry.deliveryCount)
        let policy = configuration.retryPolicy
        if stopping.isOpen, Task.isCancelled || error is CancellationError {
            logger.info("A handler was cancelled; the message goes to another consumer")
            return .release(entry.id)
        }
        if let deferral = error as? HandlerDeferral {
            scope.metrics.deferred.increment()
            logger.info("A handler asks for a later delivery", metadata: ["reason": "\(deferral)"])
            return .retry(DelayedRetry(id: entry.id, failures: entry.failures, delay: deferral.delay))
        }
        if RetryPolicy.isOutage(error) {
            scope.metrics.deferred.increment()
            logger.debug("A handler could not work; trying again", metadata: ["error": "\(error)"])
            let delay = policy.outageDelay * Double.random(in: 0.2...1)
            return .retry(DelayedRetry(id: entry.id, failures: entry.failures, delay: delay))
        }
        scope.metrics.failed.increment()
        let failures = entry.failures + 1
        guard failures < policy.maxFailures else { return deadLetter(entry, .failures, "\(error)") }
        let delay = policy.delay(afterFailures: failures)
        logger.warning(
            "A handler failed; trying again later",
            metadata: ["error": "\(error)", "failures": "\(failures)", "delay": "\(delay)"])
        return .retry(DelayedRetry(id: entry.id, failures: failures, delay: delay))
    }

    private func deadLetter(_ entry: DeliveredEntry, _ reason: DeadLetterReason, _ error: String) -> Disposition {
        let failures = reason == .failures ? entry.failures + 1 : entry.failures
        scope.logger(for: entry.id, entry.deliveryCount).error(
            "A message becomes a dead letter", metadata: ["reason": "\(reason.rawValue)", "error": "\(error)"])
        return .deadLetter(
            DeadLetterRequest(
                id: entry.id, messageID: entry.messageID, reason: reason, error: error, failures: failures,
                crashes: entry.crashes))
    }

    /// Sends the settlements that no read has carried; under load reads carry the acknowledgements, and dispositions are left.
    func sendSettlements() async {
        var failures = 0
        while !workEnded.isOpen, !Task.isCancelled {
            await state.settlementAdded.wait()
            try? await Task.sleep(for: configuration.acknowledgeLinger)
            if await flush() {
                failures = 0
            } else {
                failures += 1
                await workEnded.wait(upTo: configuration.backoff.delay(afterFailures: failures))
                state.settlementAdded.signal()
            }
        }
    }

    /// Sends all settlements; returns whether that succeeded.
    private func flush() async -> Bool {
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
            try? await Task.sleep(for: configuration.backoff.delay(afterFailures: attempt))
        }
        do {
            try await transport.retire(scope.address)
        } catch {
            scope.logger.debug("The consumer could not be deleted from its group", metadata: ["error": "\(error)"])
        }
    }
}
