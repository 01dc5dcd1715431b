import CoreMetrics
import EventBus
import Instrumentation
import Logging
import OTLP
public import ServiceLifecycle
import TraceContext
public import UnixSignals

/// Puts a service together with what all services have, and runs it until it is told to stop.
public enum ServiceRunner {
    /// The group of a service: clients first, so that they are the last to go; then its own parts; the admin port
    /// around all of them, because it has to answer while the rest is ending.
    public static func group<S: HeliographService>(
        for service: S.Type, context: ServiceContext, signals: [UnixSignal] = [.sigterm, .sigint]
    ) async throws -> ServiceGroup {
        let settings = context.settings
        let admin = AdminServer(
            host: try settings.optionalString("ADMIN_HOST") ?? "127.0.0.1",
            port: try settings.int("ADMIN_PORT", default: 9090, in: 0...65_535), health: context.health,
            metrics: context.metrics, logger: context.logger)
        // Traces go last of all, for everything else has spans to its end.
        var services: [any Service] = context.traces.map { [$0] } ?? []
        services += [context.postgres, context.redis, admin] as [any Service]
        services.append(OutboxRelay(transport: context.transport, postgres: context.postgres, logger: context.logger))
        services.append(Republisher(transport: context.transport, postgres: context.postgres, logger: context.logger))
        services.append(RedisMemoryWatch(redis: context.redis, logger: context.logger))
        services += try await S.build(context)
        services.append(DrainMarker(health: context.health))
        // A part that ends or fails takes the whole service down in order, rather than leaving half of it.
        let configurations = services.map {
            ServiceGroupConfiguration.ServiceConfiguration(
                service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                failureTerminationBehavior: .gracefullyShutdownGroup)
        }
        var configuration = ServiceGroupConfiguration(
            services: configurations, gracefulShutdownSignals: signals, logger: context.logger)
        configuration.maximumGracefulShutdownDuration = try S.gracefulShutdownLimit(settings)
        return ServiceGroup(configuration: configuration)
    }

    /// Runs a service as a process does: logging and metrics set up, settings from the environment.
    public static func run<S: HeliographService>(_ service: S.Type) async throws {
        let settings = Settings()
        let level = try logLevel(settings)
        LoggingSystem.bootstrap(
            { JSONLogHandler(service: S.name, label: $0, level: level, metadataProvider: $1) }, metadataProvider: .work)
        let metrics = PrometheusRegistry()
        MetricsSystem.bootstrap(PrometheusMetricsFactory(registry: metrics))
        let logger = Logger(label: S.name)
        let context = try ServiceContext(name: S.name, settings: settings, logger: logger, metrics: metrics)
        if let traces = context.traces { InstrumentationSystem.bootstrap(traces.tracer) }
        let group = try await group(for: service, context: context)
        logger.info("starting")
        try await group.run()
        logger.info("stopped")
    }

    private static func logLevel(_ settings: Settings) throws(ConfigurationError) -> Logger.Level {
        let expectation = "one of " + Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        guard let text = try settings.optionalString("LOG_LEVEL", expectation) else { return .info }
        guard let level = Logger.Level(rawValue: text.lowercased()) else {
            throw ConfigurationError("LOG_LEVEL", "is not valid", expectation: expectation)
        }
        return level
    }
}

/// The last of the services and so the first to hear of a shutdown: from then on `/readyz` says no.
private struct DrainMarker: Service {
    let health: HealthRegistry

    func run() async throws {
        try? await gracefulShutdown()
        health.beginDraining()
    }
}
