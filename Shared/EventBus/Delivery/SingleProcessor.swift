import WireFormat

/// Decodes messages one by one for the further steps of their delivery; each worker handles one at a time.
struct SingleProcessor<Body: Event>: MessageProcessor {
    let deliver: @Sendable (Envelope<Body>, DeliveredEntry, ConsumerScope) async -> ProcessingResult

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { 1 }

    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { configuration.concurrency }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        var results: [ProcessingResult] = []
        for entry in entries {
            do throws(WireFormatError) {
                let event: Envelope<Body> = try entry.decode()
                results.append(await deliver(event, entry, scope))
            } catch {
                results.append(.unreadable(error))
            }
        }
        return results
    }
}

extension DeliveredEntry {
    /// Returns the message that the entry carries.
    func decode<Body: Event>() throws(WireFormatError) -> Envelope<Body> {
        try EncodedEnvelope(streamFields: contents).decode()
    }
}
