import WireFormat

/// Decodes all messages that have arrived in the meantime for one ``BatchTransaction``; one worker, which keeps their order.
struct BatchProcessor<Handler: EventBatchHandler>: MessageProcessor {
    let transaction: BatchTransaction<Handler>

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { min(max(1, configuration.batchSize), 100) }

    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { 1 }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        var results: [ProcessingResult] = []
        var readable: [(index: Int, span: HandlerSpan)] = []
        var events: [Envelope<Handler.Body>] = []
        for (index, entry) in entries.enumerated() {
            do throws(WireFormatError) {
                let event: Envelope<Handler.Body> = try entry.decode()
                // Each goes on with its own trace, although they are handled together.
                let span = HandlerSpan(of: event, entry, in: scope)
                readable.append((index, span))
                events.append(event.traced(by: span.traceparent))
                results.append(.handled)
            } catch {
                results.append(.unreadable(error))
            }
        }
        for ((index, span), result) in zip(readable, await transaction.commit(events, in: scope)) {
            results[index] = result
            span.end(result)
        }
        return results
    }
}
