import WireFormat

/// Traces and decodes all messages that have arrived in the meantime for one ``BatchTransaction``; one worker, which keeps their order.
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
                let message = try entry.message.get()
                // Each goes on with its own trace, although they are handled together.
                let span = HandlerSpan(of: message, Handler.Body.type, entry, in: scope)
                do throws(WireFormatError) {
                    events.append(try message.traced(by: span.traceparent).decode())
                } catch {
                    span.end(.unreadable(error))
                    throw error
                }
                readable.append((index, span))
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
