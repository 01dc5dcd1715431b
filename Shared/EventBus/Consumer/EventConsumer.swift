public import Logging
public import PostgresClient
public import ServiceLifecycle

/// Consumes the streams of its handlers for one group, until graceful shutdown; then it drains.
///
/// Each stream has a connection, workers and limits of its own, so that a bulk mailing does not delay a sign-in. A message
/// is acknowledged only after its handler's transaction is committed; one whose handler failed, or cannot be read, stays
/// pending and is delivered again (see ``FailurePolicy``).
public struct EventConsumer: Service {
    private let consumers: [StreamConsumer]

    /// Makes a consumer.
    ///
    /// - Parameters:
    ///   - group: The consumer group, by convention the name of the service.
    ///   - postgres: Where the inbox is and handlers commit.
    ///   - handlers: At most one for each stream.
    /// - Throws: ``EventBusError`` when two handlers want the same stream.
    public init(
        group: String, transport: any EventTransport, postgres: PostgresClient,
        configuration: EventConsumerConfiguration = EventConsumerConfiguration(),
        failurePolicy: any FailurePolicy = LeavePending(), logger: Logger, handlers: [EventHandlerRegistration]
    ) throws(EventBusError) {
        let streams = handlers.flatMap(\.streams)
        guard Set(streams).count == streams.count else {
            throw EventBusError(.invalidConfiguration, "two handlers of \(group) want the same stream")
        }
        let name = ConsumerName.make(service: group)
        var consumers: [StreamConsumer] = []
        for registration in handlers {
            for stream in registration.streams {
                consumers.append(
                    StreamConsumer(
                        scope: ConsumerScope(group: group, consumer: name, stream: stream, logger: logger),
                        transport: transport, processor: registration.makeProcessor(postgres),
                        failurePolicy: failurePolicy, configuration: configuration))
            }
        }
        self.consumers = consumers
    }

    /// Consumes until graceful shutdown or cancellation, and returns when everything is drained.
    public func run() async throws {
        await withTaskGroup { group in
            for consumer in consumers { group.addTask { await consumer.run() } }
        }
    }
}
