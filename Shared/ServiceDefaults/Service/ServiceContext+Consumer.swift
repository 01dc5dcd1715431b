public import Accounts
public import EventBus

extension ServiceContext {
    /// Creates the consumer of a service in the group of its name, and makes readiness depend on its read loops: a process that is
    /// alive but consumes nothing is the most frequent fault with queues, and is invisible from outside.
    public func consumer(
        configuration: EventConsumerConfiguration = EventConsumerConfiguration(), handlers: [EventHandlerRegistration]
    ) throws(EventBusError) -> EventConsumer {
        var configuration = configuration
        configuration.deadLetterAge = deadLetterAge
        let consumer = try EventConsumer(
            group: name, transport: transport, postgres: postgres, configuration: configuration, logger: logger, clock: clock,
            handlers: handlers)
        health.register("bus") { try consumer.checkProgress() }
        return consumer
    }

    /// Returns the handler of `user.erased` of this service.
    public func erasing(with eraser: some UserEraser) -> EventHandlerRegistration {
        .handler(UserErasedHandler(service: name, eraser: eraser, postgres: postgres))
    }
}
