import PostgresClient
import WireFormat

/// Passes messages one by one to their handler; each worker handles one at a time.
///
/// The steps of a delivery are: trace → skip a duplicate → decode → handle and mark. They are functions that call each other, not a chain
/// of closures, because each asynchronous closure has memory of its own. Their result decides the disposition of the message
/// (``DispositionPolicy``).
struct SingleProcessor<Body: Event>: MessageProcessor {
    /// The database with the inbox; nil when messages are not marked.
    private let inbox: PostgresClient?
    /// The last step: has a decoded message handled, and marks it. It throws when the message was not handled.
    private let handle: @Sendable (Envelope<Body>, DeliveredEntry, ConsumerScope) async throws -> ProcessingResult

    /// Passes messages to a handler, and marks those in the inbox that the handler has not marked with their effect.
    init<Handler: EventHandler>(_ handler: Handler, inbox postgres: PostgresClient) where Handler.Body == Body {
        inbox = postgres
        handle = { event, entry, scope in
            let context = HandlerContext(event, entry, in: scope, postgres: postgres)
            try await handler.handle(event, context)
            try await context.markIfNeeded()
            return context.wasDuplicate ? .duplicate : .handled
        }
    }

    /// Passes messages to a body without marking them.
    init(withoutInbox body: @escaping @Sendable (Envelope<Body>) async throws -> Void) {
        inbox = nil
        handle = { event, _, _ in
            try await body(event)
            return .handled
        }
    }

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

    /// Runs the other steps in the trace of the message, and ends the span of its handling with their result.
    private func deliver(_ message: EncodedEnvelope, _ entry: DeliveredEntry, _ scope: ConsumerScope) async -> ProcessingResult {
        let span = HandlerSpan(of: message, Body.type, entry, in: scope)
        let result = await span.withContext { await decodeAndHandle(message.traced(by: span.traceparent), entry, scope) }
        span.end(result)
        return result
    }

    private func decodeAndHandle(
        _ message: EncodedEnvelope, _ entry: DeliveredEntry, _ scope: ConsumerScope
    ) async -> ProcessingResult {
        do {
            // Before it is decoded: the group is done with a duplicate, whatever is in it.
            if let inbox, try await Self.isDuplicate(message, entry, scope, inbox) { return .duplicate }
            let event: Envelope<Body>
            do throws(WireFormatError) { event = try message.decode() } catch { return .unreadable(error) }
            return try await handle(event, entry, scope)
        } catch {
            return .failed(error)
        }
    }

    /// Whether the group has handled the message before, which is looked up only after a failure or a crash: a query costs less than
    /// repeating the work.
    private static func isDuplicate(
        _ message: EncodedEnvelope, _ entry: DeliveredEntry, _ scope: ConsumerScope, _ inbox: PostgresClient
    ) async throws -> Bool {
        guard entry.deliveryCount > 1 || entry.onlyGroups != nil else { return false }
        return try await !InboxRepository(inbox).handled(group: scope.group, ids: [message.id]).isEmpty
    }
}
