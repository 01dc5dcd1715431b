import PostgresClient
import RedisClient
import WireFormat

/// Runs an ``EventHandler``: a worker a message.
struct SingleProcessor<Handler: EventHandler>: MessageProcessor {
    let handler: Handler
    let postgres: PostgresClient

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { 1 }

    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { configuration.concurrency }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        var results: [ProcessingResult] = []
        for entry in entries { results.append(await process(entry, in: scope)) }
        return results
    }

    private func process(_ entry: DeliveredEntry, in scope: ConsumerScope) async -> ProcessingResult {
        let event: Envelope<Handler.Body>
        do throws(WireFormatError) {
            event = try EncodedEnvelope(streamFields: entry.fields).decode()
        } catch {
            return .unreadable(error)
        }
        let context = HandlerContext(event, entry, in: scope, postgres: postgres)
        do {
            // After a failure or a crash the work may be done already; asking costs less than doing it again.
            if entry.deliveryCount > 1 || entry.onlyGroup != nil, try await context.isHandled() { return .duplicate }
            try await handler.handle(event, context)
            try await context.markIfNeeded()
            return context.wasDuplicate ? .duplicate : .handled
        } catch {
            return .failed(error)
        }
    }
}
