import AsyncPrimitives
import FoundationEssentials
import Logging
import PostgresClient
import WireFormat

/// Runs an ``EventBatchHandler``: one worker, one transaction for all messages that have arrived in the meantime.
struct BatchProcessor<Handler: EventBatchHandler>: MessageProcessor {
    let handler: Handler
    let postgres: PostgresClient

    /// The most attempts of a batch that conflicts with other transactions: a deadlock or a serialization failure.
    private static var maxAttempts: Int { 3 }

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { min(max(1, configuration.batchSize), 100) }

    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { 1 }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        var results: [ProcessingResult] = []
        var events: [Numbered] = []
        var traces: [(index: Int, trace: HandlerSpan)] = []
        for (index, entry) in entries.enumerated() {
            do throws(WireFormatError) {
                let event: Envelope<Handler.Body> = try EncodedEnvelope(streamFields: entry.fields).decode()
                // Each goes on with its own trace, although they are handled together.
                let trace = HandlerSpan(of: event, entry, in: scope)
                events.append((index, event.traced(by: trace.traceparent)))
                traces.append((index, trace))
                results.append(.handled)
            } catch {
                results.append(.unreadable(error))
            }
        }
        for (index, result) in await commit(events, in: scope) { results[index] = result }
        for (index, trace) in traces { trace.end(results[index]) }
        return results
    }

    private typealias Numbered = (index: Int, event: Envelope<Handler.Body>)

    private func commit(_ events: [Numbered], in scope: ConsumerScope) async -> [(Int, ProcessingResult)] {
        guard !events.isEmpty else { return [] }
        var attempt = 1
        while true {
            do {
                let fresh = try await commitTogether(events.map(\.event), in: scope)
                return events.map { ($0.index, fresh.contains($0.event.id) ? .handled : .duplicate) }
            } catch  where Self.isWorthRepeating(error) && attempt < Self.maxAttempts && !Task.isCancelled {
                try? await Task.sleep(for: Backoff(min: .milliseconds(10), max: .milliseconds(100)).delay(afterFailures: attempt))
                attempt += 1
            } catch  where events.count == 1 || RetryPolicy.isOutage(error) || RetryPolicy.isAmbiguousInBatch(error) {
                // Handling the messages one by one would only take longer.
                return events.map { ($0.index, .failed(error)) }
            } catch {
                scope.logger.warning(
                    "A batch failed; its messages are handled one by one",
                    metadata: ["count": "\(events.count)", "error": "\(error)"])
                var results: [(Int, ProcessingResult)] = []
                for event in events { results += await commit([event], in: scope) }
                return results
            }
        }
    }

    /// Handles events in one transaction and returns the ids of those that were not handled before.
    private func commitTogether(_ events: [Envelope<Handler.Body>], in scope: ConsumerScope) async throws -> Set<UUID> {
        try await postgres.withTransaction { transaction in
            let fresh = try await InboxRepository(transaction).markHandled(group: scope.group, ids: events.map(\.id))
            // A message that the relay sent twice may be in a batch twice.
            var due = fresh
            let dueEvents = events.filter { due.remove($0.id) != nil }
            if !dueEvents.isEmpty { try await handler.handle(dueEvents, in: transaction) }
            return fresh
        }
    }

    /// Whether an immediate second attempt of the same batch may succeed: the database has aborted one of two conflicting
    /// transactions.
    private static func isWorthRepeating(_ error: any Error) -> Bool {
        let state = (error as? PostgresError)?.sqlState
        return state == "40001" || state == "40P01"
    }
}
