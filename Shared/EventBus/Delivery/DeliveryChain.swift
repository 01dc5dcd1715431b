import PostgresClient
import WireFormat

/// A step in the delivery of a message to its handler: passes it to the next step, or ends the delivery with a result. It throws when the
/// message was not handled.
///
/// The body stays encoded until the last step, the only one that depends on the type of the event. A message that a redelivery shows to
/// be a duplicate is not decoded: its group is done with it.
typealias DeliveryStep = @Sendable (EncodedEnvelope, DeliveredEntry, ConsumerScope) async throws -> ProcessingResult

/// The last step: handles a decoded message.
typealias HandlingStep<Body: Event> = @Sendable (Envelope<Body>, DeliveredEntry, ConsumerScope) async throws -> ProcessingResult

/// The steps between a stream and a handler, outermost first. Their result decides the disposition of the message (``DispositionPolicy``).
enum DeliveryChain {
    /// trace → skip a duplicate → decode → handle and mark
    static func single<Handler: EventHandler>(_ handler: Handler, _ postgres: PostgresClient) -> any MessageProcessor {
        let steps = skippingDuplicates(postgres, decoding(handlingAndMarking(postgres, handler)))
        return SingleProcessor(deliver: traced(Handler.Body.type, steps))
    }

    /// trace → decode → skip duplicates, mark and handle in one transaction
    static func batch<Handler: EventBatchHandler>(_ handler: Handler, _ postgres: PostgresClient) -> any MessageProcessor {
        BatchProcessor(transaction: BatchTransaction(handler: handler, postgres: postgres))
    }

    /// trace → decode → body
    static func withoutInbox<Body: Event>(_ body: @escaping @Sendable (Envelope<Body>) async throws -> Void) -> any MessageProcessor {
        let steps = decoding { (event: Envelope<Body>, _, _) in
            try await body(event)
            return .handled
        }
        return SingleProcessor(deliver: traced(Body.type, steps))
    }

    /// Decodes the body of a message; one that cannot be read ends its delivery.
    private static func decoding<Body: Event>(_ next: @escaping HandlingStep<Body>) -> DeliveryStep {
        { message, entry, scope in
            let event: Envelope<Body>
            do throws(WireFormatError) { event = try message.decode() } catch { return .unreadable(error) }
            return try await next(event, entry, scope)
        }
    }
}
