internal import EventBus
public import ServiceDefaults
public import ServiceLifecycle

/// The service that resolves the recipients of notifications to deliveries for installations, and prunes dead tokens.
public enum TokenRegistry: HeliographService {
    /// The deployed name, which is also that of the consumer group.
    public static let name = "token-registry"
    /// The line of `--help`.
    public static let summary = "Finds the installations that notifications go to, and prunes dead ones."

    /// Builds the service: one consumer for all of its events, the fan-out service, and the sweeper.
    public static func build(_ context: ServiceContext) async throws -> [any Service] {
        let consumer = try context.consumer(
            handlers: [
                .batchHandler(NotificationRequestedHandler(logger: context.logger)),
                .batchHandler(NotificationSettledHandler(logger: context.logger)),
                context.erasing(with: PushEraser()),
            ])
        context.metrics.setLifetime(sealedValuesInterval * 2.5, ofGauge: "sealed_values")
        context.metrics.setLifetime(guardInterval * 2.5, ofGauge: "push_guard_tripped")
        return [
            consumer, TopicFanOutService(postgres: context.postgres, logger: context.logger),
            sweeper(postgres: context.postgres, logger: context.logger, clock: context.clock),
        ]
    }
}
