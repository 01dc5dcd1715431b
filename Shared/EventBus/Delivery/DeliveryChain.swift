import PostgresClient
import WireFormat

/// A step in the delivery of a message to its handler: passes it to the next step, or ends the delivery with a result. It throws when the
/// message was not handled.
typealias DeliveryStep<Body: Event> = @Sendable (Envelope<Body>, DeliveredEntry, ConsumerScope) async throws -> ProcessingResult

/// The steps between a stream and a handler, outermost first. Their result decides the disposition of the message (``DispositionPolicy``).
enum DeliveryChain {
    /// decode → trace → skip a duplicate → handle and mark
    static func single<Handler: EventHandler>(_ handler: Handler, _ postgres: PostgresClient) -> any MessageProcessor {
        SingleProcessor(deliver: traced(skippingDuplicates(postgres, handlingAndMarking(postgres, handler))))
    }

    /// decode → trace → skip duplicates, mark and handle in one transaction
    static func batch<Handler: EventBatchHandler>(_ handler: Handler, _ postgres: PostgresClient) -> any MessageProcessor {
        BatchProcessor(transaction: BatchTransaction(handler: handler, postgres: postgres))
    }

    /// decode → trace → body
    static func withoutInbox<Body: Event>(_ body: @escaping @Sendable (Envelope<Body>) async throws -> Void) -> any MessageProcessor {
        SingleProcessor<Body>(
            deliver: traced { event, _, _ in
                try await body(event)
                return .handled
            })
    }
}
