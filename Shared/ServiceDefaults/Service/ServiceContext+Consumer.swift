public import EventBus

extension ServiceContext {
    /// Makes the consumer of a service, in the group of its name, and has readiness watch over its read loops: a process that
    /// lives and consumes nothing is what goes wrong most with queues, and nobody sees it from outside.
    public func consumer(
        configuration: EventConsumerConfiguration = EventConsumerConfiguration(), handlers: [EventHandlerRegistration]
    ) throws(EventBusError) -> EventConsumer {
        var configuration = configuration
        configuration.deadLetterAge = deadLetterAge
        let consumer = try EventConsumer(
            group: name, transport: transport, postgres: postgres, configuration: configuration, logger: logger,
            handlers: handlers)
        health.register("bus") { try consumer.checkProgress() }
        return consumer
    }
}
