import Logging
import Metrics
import RedisClient

extension StreamConsumer {
    /// Takes in what the server gave: work for the workers, and what no worker is to see.
    func take(_ entries: [DeliveredEntry]) {
        var foreign: [EntryID] = []
        var rulings: [Ruling] = []
        var work: [DeliveredEntry] = []
        work.reserveCapacity(entries.count)
        for entry in entries {
            if let only = entry.onlyGroup, only != scope.group {
                foreign.append(entry.id)
            } else if entry.crashes >= configuration.retryPolicy.crashesMax {
                rulings.append(bury(entry, .crashes, "\(entry.crashes) consumers ended with the message in hand"))
            } else {
                work.append(entry)
            }
        }
        if !foreign.isEmpty || !rulings.isEmpty { desk.settle(unseen: foreign, rulings) }
        desk.add(work)
    }

    /// Settles what a worker is through with: acknowledges what is committed and rules upon the rest.
    func settle(_ unit: [DeliveredEntry], _ results: [ProcessingResult]) {
        var committed: [EntryID] = []
        committed.reserveCapacity(unit.count)
        var rulings: [Ruling] = []
        for (entry, result) in zip(unit, results) {
            switch result {
            case .handled:
                scope.metrics.handled.increment()
                committed.append(entry.id)
            case .duplicate:
                scope.metrics.duplicates.increment()
                committed.append(entry.id)
            case .failed(let error):
                rulings.append(rule(on: entry, error))
            case .unreadable(let error):
                scope.metrics.unreadable.increment()
                rulings.append(bury(entry, .unreadable, "\(error)"))
            }
        }
        desk.settle(acknowledged: committed, rulings)
    }

    private func rule(on entry: DeliveredEntry, _ error: any Error) -> Ruling {
        let logger = scope.logger(for: entry.id, entry.deliveryCount)
        let policy = configuration.retryPolicy
        if stopping.hasFallen, Task.isCancelled || error is CancellationError {
            logger.info("A handler was cancelled; the message goes to another consumer")
            return .handBack(entry.id)
        }
        if RetryPolicy.isOutage(error) {
            scope.metrics.deferred.increment()
            logger.debug("A handler could not work; trying again", metadata: ["error": "\(error)"])
            let delay = policy.outageDelay * Double.random(in: 0.2...1)
            return .retry(DelayedRetry(id: entry.id, failures: entry.failures, delay: delay))
        }
        scope.metrics.failed.increment()
        let failures = entry.failures + 1
        guard failures < policy.failuresMax else { return bury(entry, .failures, "\(error)") }
        let delay = policy.delay(afterFailures: failures)
        logger.warning(
            "A handler failed; trying again later",
            metadata: ["error": "\(error)", "failures": "\(failures)", "delay": "\(delay)"])
        return .retry(DelayedRetry(id: entry.id, failures: failures, delay: delay))
    }

    private func bury(_ entry: DeliveredEntry, _ reason: DeadLetterReason, _ error: String) -> Ruling {
        let failures = reason == .failures ? entry.failures + 1 : entry.failures
        scope.metrics.dead.increment()
        scope.logger(for: entry.id, entry.deliveryCount).error(
            "A message becomes a dead letter", metadata: ["reason": "\(reason.rawValue)", "error": "\(error)"])
        return .bury(
            Burial(
                id: entry.id, messageID: entry.messageID, reason: reason, error: error, failures: failures,
                crashes: entry.crashes))
    }

    /// Tells the server what is settled and no read has taken along; under load reads do, and this finds rulings at most.
    func tellSettlements() async {
        var failures = 0
        while !workEnded.hasFallen, !Task.isCancelled {
            await desk.settlementsWait.wait()
            try? await Task.sleep(for: configuration.acknowledgeLinger)
            if await flush() {
                failures = 0
            } else {
                failures += 1
                await workEnded.wait(upTo: configuration.pause.after(failures: failures))
                desk.settlementsWait.ring()
            }
        }
    }

    /// Tells all that is settled; whether that went well.
    private func flush() async -> Bool {
        let ids = desk.takeAcknowledgements()
        let rulings = desk.takeRulings()
        do {
            if !ids.isEmpty { lostOwnership(of: try await transport.acknowledge(ids, by: scope.address)) }
        } catch {
            desk.putBack(ids)
            desk.putBack(rulings)
            scope.logger.debug(
                "Acknowledging failed; trying again", metadata: ["error": "\(error)", "count": "\(ids.count)"])
            return false
        }
        return await tell(rulings)
    }

    private func tell(_ rulings: [Ruling]) async -> Bool {
        guard !rulings.isEmpty else { return true }
        let sorted = Rulings(rulings)
        var untold = rulings
        do {
            try await tell(sorted.handBacks, &untold) { ids throws(EventBusError) in
                try await transport.handBack(ids, by: scope.address)
            }
            try await tell(sorted.retries.map(\.id), &untold) { _ throws(EventBusError) in
                try await transport.retry(sorted.retries, by: scope.address)
            }
            if !sorted.retries.isEmpty { retryWaits.ring() }
            if !sorted.burials.isEmpty { try await onBurial(sorted.burials) }
            try await tell(sorted.burials.map(\.id), &untold) { _ throws(EventBusError) in
                try await transport.bury(sorted.burials, by: scope.address)
            }
            return true
        } catch {
            desk.putBack(untold)
            scope.logger.debug(
                "Settling failed; trying again", metadata: ["error": "\(error)", "count": "\(untold.count)"])
            return false
        }
    }

    private func tell(
        _ ids: [EntryID], _ untold: inout [Ruling], _ body: ([EntryID]) async throws(EventBusError) -> [EntryID]
    ) async throws(EventBusError) {
        guard !ids.isEmpty else { return }
        lostOwnership(of: try await body(ids))
        let told = Set(ids)
        untold.removeAll { told.contains($0.id) }
        desk.ruled(ids)
    }

    /// Counts entries that somebody else was given while this consumer had them: the inbox sees to it that they took effect
    /// once, but it should not happen.
    func lostOwnership(of ids: [EntryID]) {
        guard !ids.isEmpty else { return }
        scope.metrics.ownershipLost.increment(by: ids.count)
        scope.logger.warning(
            "Another consumer took over messages before they were settled", metadata: ["count": "\(ids.count)"])
    }

    /// The last settlements, and the consumer's departure. What fails here is put right by whoever claims later.
    func finish() async {
        for attempt in 1...3 {
            if await flush() { break }
            try? await Task.sleep(for: configuration.pause.after(failures: attempt))
        }
        do {
            try await transport.retire(scope.address)
        } catch {
            scope.logger.debug("The consumer's name stays behind", metadata: ["error": "\(error)"])
        }
    }
}
