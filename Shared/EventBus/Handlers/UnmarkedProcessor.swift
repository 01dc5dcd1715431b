import Logging
import PostgresClient
import RedisClient
package import WireFormat

extension EventHandlerRegistration {
    /// Registers a body that is called for each event and has no effect in the database, so that nothing is marked as handled
    /// and no connection is made. What it does may happen twice. For measuring the bus without a database.
    package static func unmarked<Body: Event>(
        _ type: Body.Type, _ body: @escaping @Sendable (Envelope<Body>) async throws -> Void
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: Body.streams, type: Body.type) { _ in UnmarkedProcessor(body: body) }
    }
}

/// Calls a body for each message, a worker a message.
private struct UnmarkedProcessor<Body: Event>: MessageProcessor {
    let body: @Sendable (Envelope<Body>) async throws -> Void

    func unitSize(_ configuration: EventConsumerConfiguration) -> Int { 1 }

    func workerCount(_ configuration: EventConsumerConfiguration) -> Int { configuration.concurrency }

    func process(_ entries: [DeliveredEntry], in scope: ConsumerScope) async -> [ProcessingResult] {
        var results: [ProcessingResult] = []
        for entry in entries {
            do throws(WireFormatError) {
                let event: Envelope<Body> = try EncodedEnvelope(streamFields: entry.fields).decode()
                do { try await body(event) } catch {
                    results.append(.failed(error))
                    continue
                }
                results.append(.handled)
            } catch {
                results.append(.unreadable(error))
            }
        }
        return results
    }
}
