import WireFormat

/// Passes messages one by one to the steps of their delivery; each worker handles one at a time.
struct SingleProcessor: MessageProcessor {
    let deliver: @Sendable (EncodedEnvelope, DeliveredEntry, ConsumerScope) async -> ProcessingResult

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { 1 }

    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { configuration.concurrency }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        var results: [ProcessingResult] = []
        for entry in entries {
            switch entry.message {
            case .success(let message): results.append(await deliver(message, entry, scope))
            case .failure(let error): results.append(.unreadable(error))
            }
        }
        return results
    }
}
