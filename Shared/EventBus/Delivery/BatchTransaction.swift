import AsyncPrimitives
import FoundationEssentials
import Logging
import PostgresClient
import WireFormat

/// Handles the messages of a batch in one transaction, which marks them in the inbox and skips those that were handled before.
struct BatchTransaction<Handler: EventBatchHandler>: Sendable {
    let handler: Handler
    let postgres: PostgresClient

    /// The most attempts of a batch that conflicts with other transactions: a deadlock or a serialization failure.
    private static var maxAttempts: Int { 3 }
    /// The delays between these attempts.
    private static var backoff: Backoff { Backoff(min: .milliseconds(10), max: .milliseconds(100)) }

    /// Handles events and returns the result of each, in their order. When a batch fails, its events are handled one by one.
    func commit(_ events: [Envelope<Handler.Body>], in scope: ConsumerScope) async -> [ProcessingResult] {
        guard !events.isEmpty else { return [] }
        var attempt = 1
        while true {
            do {
                let fresh = try await commitTogether(events, in: scope)
                return events.map { fresh.contains($0.id) ? .handled : .duplicate }
            } catch  where Self.isWorthRepeating(error) && attempt < Self.maxAttempts && !Task.isCancelled {
                try? await scope.clock.sleep(for: Self.backoff.delay(afterFailures: attempt))
                attempt += 1
            } catch  where events.count == 1 || error.isDependencyUnavailable || RetryPolicy.isAmbiguousInBatch(error) {
                // Handling the messages one by one would only take longer.
                return events.map { _ in .failed(error) }
            } catch {
                scope.logger.warning(
                    "A batch failed; its messages are handled one by one",
                    metadata: ["count": "\(events.count)", "error": "\(error)"])
                var results: [ProcessingResult] = []
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
        (error as? PostgresError)?.fault == .conflict
    }
}
