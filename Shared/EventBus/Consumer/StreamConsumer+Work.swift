import AsyncPrimitives
import Logging
import Metrics

extension StreamConsumer {
    /// Handles units until there are no more, and returns true, or until it is cancelled, and returns false.
    func workOnUnits(in slot: WorkerSlot) async -> Bool {
        var outages = 0
        while let unit = await state.next() {
            let results = await work(on: unit, in: slot)
            // During the outage of a dependency every unit fails: slow down until it recovers.
            outages = results.allSatisfy(\.isOutage) ? outages + 1 : 0
            if outages > 0 { await stopping.wait(upTo: configuration.backoff.delay(afterFailures: outages), clock: scope.clock) }
            if Task.isCancelled { return false }
        }
        return true
    }

    /// Handles suspects, each alone in the isolation lane; see ``workOnUnits(in:)``.
    func workOnSuspects(in slot: WorkerSlot) async -> Bool {
        while let suspect = await state.nextSuspect() {
            await isolation.run(pausing: state) {
                guard await begin(suspect) else { return }
                state.beginSuspect()
                if stopping.isOpen {
                    state.settle(acknowledged: [], [.release(suspect.id)])
                } else {
                    _ = await work(on: [suspect], in: slot)
                }
                // Settle it at once, in the lane: if the next suspect ends the process, this suspect must not count that crash as well.
                if await !flush() { state.settlementAdded.signal() }
            }
            state.leaveSuspect(suspect.id)
            // The next suspect may be claimed now.
            claimNow.signal()
            if Task.isCancelled { return false }
        }
        return true
    }

    private func work(on unit: [DeliveredEntry], in slot: WorkerSlot) async -> [ProcessingResult] {
        let start = scope.clock.now
        slot.begin(start)
        let results = await processor.process(unit, in: scope)
        slot.end()
        // Not by `record(duration:)`, which divides by 10^18 twice.
        scope.metrics.handling.recordNanoseconds(Int64(clamping: (scope.clock.now - start).attoseconds / 1_000_000_000))
        settle(unit, results)
        return results
    }

    /// Counts the delivery of a suspect, which its claim did not count, and returns whether this consumer still holds it.
    private func begin(_ suspect: DeliveredEntry) async -> Bool {
        do {
            let gone = try await transport.begin([suspect.id], by: scope.address)
            lostOwnership(of: gone)
            return gone.isEmpty
        } catch {
            // It stays pending, and is claimed again once it was idle for long enough.
            scope.logger.debug("A suspect could not be begun", metadata: ["error": "\(error)"])
            return false
        }
    }
}
