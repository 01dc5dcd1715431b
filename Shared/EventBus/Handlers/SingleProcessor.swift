import Tracing
import WireFormat

/// Handles single messages; each worker handles one at a time.
struct SingleProcessor<Body: Event>: MessageProcessor {
    /// Handles an event and returns whether it was handled now or before. Throws when it was not handled.
    let handle: @Sendable (Envelope<Body>, DeliveredEntry, ConsumerScope) async throws -> ProcessingResult

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { 1 }

    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { configuration.concurrency }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        var results: [ProcessingResult] = []
        for entry in entries { results.append(await process(entry, in: scope)) }
        return results
    }

    private func process(_ entry: DeliveredEntry, in scope: ConsumerScope) async -> ProcessingResult {
        let event: Envelope<Body>
        do throws(WireFormatError) {
            event = try EncodedEnvelope(streamFields: entry.fields).decode()
        } catch {
            return .unreadable(error)
        }
        let trace = HandlerSpan(of: event, entry, in: scope)
        let result = await InstrumentationContext.withValue(trace.context) { () -> ProcessingResult in
            do {
                return try await handle(event.traced(by: trace.traceparent), entry, scope)
            } catch {
                return .failed(error)
            }
        }
        trace.end(result)
        return result
    }
}
