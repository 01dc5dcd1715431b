public import WireFormat
import PostgresClient

/// Says which handler gets the messages of which streams.
public struct EventHandlerRegistration: Sendable {
    /// The streams to consume.
    public let streams: [String]
    /// The type of the messages.
    public let type: EventType
    /// The priority of the tasks that read and handle them; nil is the caller's.
    public let priority: TaskPriority?

    let makeProcessor: @Sendable (PostgresClient) -> any MessageProcessor

    /// Registers a handler of single events.
    ///
    /// - Parameters:
    ///   - streams: Some of the event's streams; all of them when nil.
    ///   - priority: That of the tasks that read and handle them; nil is the caller's.
    public static func handler<Handler: EventHandler>(
        _ handler: Handler, streams: [String]? = nil, priority: TaskPriority? = nil
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: streams ?? Handler.Body.streams, type: Handler.Body.type, priority: priority) { postgres in
            SingleProcessor<Handler.Body> { event, entry, scope in
                let context = HandlerContext(event, entry, in: scope, postgres: postgres)
                // After a failure or a crash the work may be done already; asking costs less than doing it again.
                if entry.deliveryCount > 1 || entry.onlyGroup != nil, try await context.isHandled() { return .duplicate }
                try await handler.handle(event, context)
                try await context.markIfNeeded()
                return context.wasDuplicate ? .duplicate : .handled
            }
        }
    }

    /// Registers a body that is called for each event and has no effect in the database, so that nothing is marked as handled
    /// and no connection is made. What it does may happen twice. For measuring the bus without a database.
    package static func unmarked<Body: Event>(
        _ type: Body.Type, _ body: @escaping @Sendable (Envelope<Body>) async throws -> Void
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: Body.streams, type: Body.type, priority: nil) { _ in
            SingleProcessor<Body> { event, _, _ in
                try await body(event)
                return .handled
            }
        }
    }

    /// Registers a handler of batches.
    ///
    /// - Parameters:
    ///   - streams: Some of the event's streams; all of them when nil.
    ///   - priority: That of the tasks that read and handle them; nil is the caller's.
    public static func batchHandler<Handler: EventBatchHandler>(
        _ handler: Handler, streams: [String]? = nil, priority: TaskPriority? = nil
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: streams ?? Handler.Body.streams, type: Handler.Body.type, priority: priority) {
            BatchProcessor(handler: handler, postgres: $0)
        }
    }
}
