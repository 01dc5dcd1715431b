import WireFormat

/// Passes messages one by one to the steps of their delivery; each worker handles one at a time.
struct SingleProcessor: MessageProcessor {
    let deliver: @Sendable (EncodedEnvelope, DeliveredEntry, ConsumerScope) async -> ProcessingResult

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { 1 }

    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { configuration.concurrency }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        var results: [ProcessingResult] = []
        for entry in entries {
            do throws(WireFormatError) {
                results.append(await deliver(try entry.message(), entry, scope))
            } catch {
                results.append(.unreadable(error))
            }
        }
        return results
    }
}

extension DeliveredEntry {
    /// Returns the message that the entry carries.
    func message() throws(WireFormatError) -> EncodedEnvelope { try EncodedEnvelope(streamFields: contents) }
}
