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
        EventHandlerRegistration(streams: streams ?? Handler.Body.streams, type: Handler.Body.type) {
            SingleProcessor(handler, inbox: $0)
        }
    }

    /// Registers a handler of batches.
    ///
    /// - Parameter streams: Some of the event's streams; all of them when nil.
    public static func batchHandler<Handler: EventBatchHandler>(
        _ handler: Handler, streams: [String]? = nil
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: streams ?? Handler.Body.streams, type: Handler.Body.type) {
            BatchProcessor(transaction: BatchTransaction(handler: handler, postgres: $0))
        }
    }

    /// Registers a body without the inbox, so that it may run twice for an event; for measuring the bus without a database.
    ///
    /// - Parameter streams: Some of the event's streams; all of them when nil.
    package static func withoutInbox<Body: Event>(
        _ type: Body.Type, streams: [String]? = nil, _ body: @escaping @Sendable (Envelope<Body>) async throws -> Void
    ) -> EventHandlerRegistration {
        EventHandlerRegistration(streams: streams ?? Body.streams, type: Body.type) { _ in SingleProcessor(withoutInbox: body) }
    }
}
