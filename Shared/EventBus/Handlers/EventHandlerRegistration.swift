import PostgresClient
public import WireFormat

/// A handler with the streams whose messages it handles.
public struct EventHandlerRegistration: Sendable {
    /// The streams to consume.
    public let streams: [String]
    /// The type of the messages.
    public let type: EventType

    let makeProcessor: @Sendable (PostgresClient) -> any MessageProcessor

    /// Registers a handler of single events.
    ///
    /// - Parameter streams: Some of the event's streams; all of them when nil.
    public static func handler<Handler: EventHandler>(
        _ handler: Handler, streams: [String]? = nil
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: streams ?? Handler.Body.streams, type: Handler.Body.type) { postgres in
            SingleProcessor<Handler.Body> { event, entry, scope in
                let context = HandlerContext(event, entry, in: scope, postgres: postgres)
                // After a failure or a crash the work may be done already; a query costs less than repeating it.
                if entry.deliveryCount > 1 || entry.onlyGroup != nil, try await context.isHandled() { return .duplicate }
                try await handler.handle(event, context)
                try await context.markIfNeeded()
                return context.wasDuplicate ? .duplicate : .handled
            }
        }
    }

    /// Registers a body that is called for each event and has no effect in the database, so that no event is marked as handled
    /// and no connection is opened. It may run twice for an event. For measuring the bus without a database.
    package static func unmarked<Body: Event>(
        _ type: Body.Type, _ body: @escaping @Sendable (Envelope<Body>) async throws -> Void
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: Body.streams, type: Body.type) { _ in
            SingleProcessor<Body> { event, _, _ in
                try await body(event)
                return .handled
            }
        }
    }

    /// Registers a handler of batches.
    ///
    /// - Parameter streams: Some of the event's streams; all of them when nil.
    public static func batchHandler<Handler: EventBatchHandler>(
        _ handler: Handler, streams: [String]? = nil
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: streams ?? Handler.Body.streams, type: Handler.Body.type) {
            BatchProcessor(handler: handler, postgres: $0)
        }
    }
}
