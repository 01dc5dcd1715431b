import AsyncPrimitives
import Logging

extension StreamConsumer {
    /// Adds delivered entries: entries for the workers, and entries that are settled without handling.
    func take(_ entries: [DeliveredEntry]) {
        if entries.allSatisfy({ policy.decision(onUnhandled: $0) == nil }) { return state.add(entries) }
        var foreign: [EntryID] = []
        var dispositions: [Disposition] = []
        var work: [DeliveredEntry] = []
        work.reserveCapacity(entries.count)
        for entry in entries {
            switch policy.decision(onUnhandled: entry) {
            case .acknowledge: foreign.append(entry.id)
            case .deadLetter(let reason, let failures):
                dispositions.append(deadLetter(entry, reason, failures, "\(entry.crashes) consumers ended while they held the message"))
            default: work.append(entry)
            }
        }
        if !foreign.isEmpty || !dispositions.isEmpty { state.settle(unseen: foreign, dispositions) }
        state.add(work)
    }

    /// Settles a worker's entries: acknowledges those with a committed effect, and gives the others a disposition.
    func settle(_ unit: [DeliveredEntry], _ results: [ProcessingResult]) {
        // Most units are one message that was handled, which no circumstances change.
        if unit.count == 1, results[0].isCommitted {
            scope.metrics.count(results[0], .acknowledge)
            return state.settle(acknowledged: CollectionOfOne(unit[0].id), [])
        }
        let circumstances = DispositionPolicy.Circumstances(
            unitCount: unit.count, isStopping: stopping.isOpen, isCancelled: Task.isCancelled)
        var committed: [EntryID] = []
        committed.reserveCapacity(unit.count)
        var dispositions: [Disposition] = []
        var alone: [DeliveredEntry] = []
        for (entry, result) in zip(unit, results) {
            let decision = policy.decision(on: entry, result, circumstances)
            scope.metrics.count(result, decision)
            switch decision {
            case .acknowledge: committed.append(entry.id)
            case .handleAlone: alone.append(entry)
            case .retry(let cause, let failures, let delay):
                logger(for: entry).log(
                    level: logLevel(of: cause), "A message was not handled and is delivered again",
                    metadata: [
                        "cause": "\(cause)", "error": "\(result.errorText)", "failures": "\(failures)", "delay": "\(delay)",
                    ])
                dispositions.append(.retry(DelayedRetry(id: entry.id, failures: failures, delay: delay)))
            case .deadLetter(let reason, let failures):
                dispositions.append(deadLetter(entry, reason, failures, result.errorText))
            case .release:
                logger(for: entry).info("A handler was cancelled; the message goes to another consumer")
                dispositions.append(.release(entry.id))
            }
        }
        if !alone.isEmpty {
            state.retryIndividually(on: alone)
            scope.logger.warning(
                "A batch failed, and one of its messages may be the cause; they are handled one by one",
                metadata: ["count": "\(alone.count)"])
        }
        state.settle(acknowledged: committed, dispositions)
    }

    /// An outage concerns all messages, and a retry of each follows in two seconds: a line in a while is enough.
    private func logLevel(of cause: DispositionPolicy.RetryCause) -> Logger.Level {
        switch cause {
        case .deferral: .info
        case .outage: outageLog.admits() ? .warning : .debug
        case .failure: .warning
        }
    }

    private func logger(for entry: DeliveredEntry) -> Logger { scope.logger(for: entry.id, entry.deliveryCount) }

    private func deadLetter(_ entry: DeliveredEntry, _ reason: DeadLetterReason, _ failures: Int, _ error: String) -> Disposition {
        logger(for: entry).error("A message becomes a dead letter", metadata: ["reason": "\(reason.rawValue)", "error": "\(error)"])
        return .deadLetter(NewDeadLetter(entry, reason, error: error, failures: failures))
    }
}
