import Logging
import Metrics
import RedisClient

extension StreamConsumer {
    /// Acknowledges what no read has taken along; under load reads do, and this finds nothing.
    func acknowledge() async {
        var failures = 0
        while !workEnded.hasFallen, !Task.isCancelled {
            await desk.acknowledgementsWait.wait()
            try? await Task.sleep(for: configuration.acknowledgeLinger)
            if await flush() {
                failures = 0
            } else {
                failures += 1
                await workEnded.wait(upTo: configuration.pause.after(failures: failures))
                desk.acknowledgementsWait.ring()
            }
        }
    }

    /// Acknowledges all that is committed; whether that went well.
    private func flush() async -> Bool {
        let ids = desk.takeAcknowledgements()
        guard !ids.isEmpty else { return true }
        do {
            try await transport.acknowledge(ids, group: scope.group, stream: scope.stream)
            return true
        } catch {
            desk.putBack(ids)
            scope.logger.debug(
                "Acknowledging failed; trying again", metadata: ["error": "\(error)", "count": "\(ids.count)"])
            return false
        }
    }

    /// The last acknowledgements, and the consumer's departure. What fails here is put right by whoever claims later.
    func finish() async {
        for attempt in 1...3 {
            if await flush() { break }
            try? await Task.sleep(for: configuration.pause.after(failures: attempt))
        }
        do {
            try await transport.retire(consumer: scope.consumer, group: scope.group, stream: scope.stream)
        } catch {
            scope.logger.debug("The consumer's name stays behind", metadata: ["error": "\(error)"])
        }
    }
}
