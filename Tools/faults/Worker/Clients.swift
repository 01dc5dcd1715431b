import ArgumentParser
import EventBus
import FaultLedger
import Foundation
import Logging
import PostgresClient
import RedisClient
import ServiceLifecycle
import UnixSignals

/// The addresses of the servers.
struct Servers: ParsableArguments {
    @Option(help: "The libpq URI of the database.")
    var database: String

    @Option(help: "The libpq URI of the server itself, when the other one is a pooler's.")
    var directDatabase: String?

    @Option(help: "The URL of the Redis server; a producer needs none.")
    var redis = "redis://127.0.0.1:1"

    /// Runs the services that `build` makes until SIGTERM, with their clients, in the order of a real service.
    func run(connections: Int, _ build: (RedisEventTransport, PostgresClient, Logger) throws -> [any Service]) async throws {
        var logger = Logger(label: "fault-worker")
        logger.logLevel = .debug
        let redis = RedisClient(configuration: try RedisConfiguration(url: redis), logger: logger)
        let postgres = try postgres(connections: connections, logger)
        let services: [any Service] =
            [postgres, redis] + (try build(RedisEventTransport(client: redis), postgres, logger))
        // The group's messages below `warning` do not help to find a fault.
        var groupLogger = logger
        groupLogger.logLevel = .warning
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm], logger: groupLogger))
        try await group.run()
    }

    /// Makes a client with the default time limits, as the services do.
    func postgres(connections: Int, _ logger: Logger) throws -> PostgresClient {
        var configuration = PostgresConfiguration(url: database)
        configuration.directURL = directDatabase
        configuration.applicationName = Ledger.applicationName(pid: ProcessInfo.processInfo.processIdentifier)
        configuration.maxConnections = connections
        return try PostgresClient(configuration: configuration, logger: logger)
    }
}
