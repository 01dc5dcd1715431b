import BuildVersion
import CoreMetrics
import EventBus
import HeliographCrypto
import HeliographTracing
import Instrumentation
import Logging
import PostgresClient
public import ServiceLifecycle
public import UnixSignals

/// Assembles a service with the components that all services have, and runs it until a signal stops it.
public enum ServiceRunner {
    /// Creates the group of a service: clients and the admin port come first, so that they are shut down last, because the admin port
    /// has to answer while the service's own components end. What works on the database waits for its schema.
    public static func group<S: HeliographService>(
        for service: S.Type, context: ServiceContext, signals: [UnixSignal] = [.sigterm, .sigint]
    ) async throws -> ServiceGroup {
        let settings = context.settings
        let admin = AdminServer(
            name: context.name, address: try AdminServer.address(settings), health: context.health, metrics: context.metrics,
            logger: context.logger)
        // The exporter of traces is shut down last, because all other components create spans until their end.
        var services: [any Service] = context.traces.map { [$0] } ?? []
        services += [context.postgres, context.redis, admin] as [any Service]
        let (transport, postgres, logger, clock) = (context.transport, context.postgres, context.logger, context.clock)
        services.append(RedisMemoryWatch(redis: context.redis, logger: logger))
        let working: [any Service] = [
            OutboxRelay(transport: transport, postgres: postgres, logger: logger, clock: clock),
            Republisher(transport: transport, postgres: postgres, group: context.name, logger: logger, clock: clock),
        ]
        services += (working + (try await S.build(context))).map { component in
            component is StartsWithoutSchema ? component : StartsWithSchema(component: component, schema: context.schema)
        }
        services.append(DrainMarker(health: context.health))
        // A component that ends or fails shuts the whole service down in order, rather than leaving a part of it running.
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

    /// Runs a service in this process: sets up logging, metrics and traces, and reads the settings from the environment.
    public static func run<S: HeliographService>(_ service: S.Type) async throws {
        OpenSSLLibrary.keepUntilExit()
        let settings = Settings()
        let level = try logLevel(settings)
        LoggingSystem.bootstrap(
            { JSONLogHandler(service: S.name, label: $0, level: level, metadataProvider: $1) }, metadataProvider: .work)
        let metrics = PrometheusRegistry()
        MetricsSystem.bootstrap(PrometheusMetricsFactory(registry: metrics))
        let logger = Logger(label: S.name)
        let context = try ServiceContext(
            name: S.name, settings: try await settings.unwrappingKeys(logger: logger), logger: logger, metrics: metrics)
        let checks = try StartChecks(settings)
        try checks.checkConnections()
        do {
            try await checks.checkRole(context.postgres)
            try await checks.checkLimits(context.postgres)
            try await checks.checkSessions(context.postgres)
            if try await !checks.cancelsStatements(context.postgres) {
                logger.error("The pooler of DATABASE_URL does not cancel statements: several PgBouncers need [peers] (1.19 or later)")
            }
        } catch let error as PostgresError {
            // The service starts without Postgres, as it goes on without it, and is not ready before it has a role of its own with limits.
            logger.warning("The role in Postgres could not be checked", metadata: ["error": "\(error)"])
        }
        context.health.register("database_role") { try await checks.checkRole(context.postgres) }
        context.health.register("database_limits") { try await checks.checkLimits(context.postgres) }
        if let traces = context.traces { InstrumentationSystem.bootstrap(traces.tracer) }
        let group = try await group(for: service, context: context)
        logger.info("starting", metadata: ["version": "\(HeliographVersion.current)"])
        try await group.run()
        logger.info("stopped")
    }

    /// Reads `LOG_LEVEL`.
    static func logLevel(_ settings: Settings) throws(ConfigurationError) -> Logger.Level {
        try settings.choice("LOG_LEVEL", default: .info, about: "the least level of lines that are logged")
    }
}

/// Makes `/readyz` fail from the start of a shutdown; it is the last component of the group and so the first to be shut down.
private struct DrainMarker: Service {
    let health: HealthRegistry

    func run() async throws {
        try? await gracefulShutdown()
        health.beginDraining()
    }
}
