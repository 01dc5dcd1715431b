public import WireFormat
import PostgresClient

/// Says which handler gets the messages of which streams.
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
            SingleProcessor(handler: handler, postgres: $0)
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
