public import AsyncPrimitives
public import Logging
public import PostgresClient
public import ServiceLifecycle
import WireFormat

/// Consumes the streams of its handlers for one group, until graceful shutdown; then it drains.
///
/// Each stream has a connection, workers and limits of its own, so that a bulk mailing does not delay a sign-in. A message is acknowledged
/// only after its handler's transaction is committed. A message whose handler failed is tried again after a delay. A message that cannot be
/// read, fails too often or kills its consumers becomes a dead letter (``RetryPolicy``).
public struct EventConsumer: Service {
    /// The time without a read after which the consumer is not ready.
    public static let maxSilence: Duration = .seconds(30)

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
        configuration: EventConsumerConfiguration = EventConsumerConfiguration(), logger: Logger,
        clock: any MonotonicClock = ContinuousClock(), handlers: [EventHandlerRegistration]
    ) throws(EventBusError) {
        let streams = handlers.flatMap(\.streams)
        guard Set(streams).count == streams.count else {
            throw EventBusError(.invalidConfiguration, "two handlers of \(group) want the same stream")
        }
        let name = ConsumerName.make(service: group)
        let isolation = IsolationLane()
        var consumers: [StreamConsumer] = []
        for registration in handlers {
            for stream in registration.streams {
                consumers.append(
                    StreamConsumer(
                        scope: ConsumerScope(group: group, consumer: name, stream: stream, logger: logger, clock: clock),
                        transport: transport, processor: registration.makeProcessor(postgres),
                        deadLetters: PostgresDeadLetters(postgres: postgres), configuration: configuration, isolation: isolation))
            }
        }
        self.consumers = consumers
    }

    /// Throws when nothing was read for longer than ``maxSilence`` although there is room, or when a consumer has stalled: the
    /// process lives and consumes nothing.
    public func checkProgress() throws(EventBusError) {
        for consumer in consumers {
            if consumer.stalled.isOpen { throw EventBusError(.stalled, "\(consumer.scope.stream) is not consumed any more") }
            if consumer.stopping.isOpen { continue }
            let silence = consumer.progress.silenceOfReads()
            guard silence > Self.maxSilence else { continue }
            throw EventBusError(.stalled, "nothing was read from \(consumer.scope.stream) for \(silence)")
        }
    }

    /// Consumes until graceful shutdown or cancellation, and returns when everything is drained.
    ///
    /// - Throws: ``EventBusError`` when a consumer does not work any more and only a new start of the process helps.
    public func run() async throws {
        try await withThrowingTaskGroup { group in
            for consumer in consumers { group.addTask { try await consumer.run() } }
            try await group.waitForAll()
        }
    }
}
