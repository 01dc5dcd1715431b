import EventBus
import Foundation
import Logging
import RedisClient
import TestSupport
import Testing

/// The implementations that have to pass the conformance suite.
enum TransportKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case inMemory
    case redis
    case redisCluster

    var testDescription: String { rawValue }

    /// Makes a transport whose streams no other test uses.
    func transport() async throws -> any TestTransport {
        switch self {
        case .inMemory: InMemoryEventTransport()
        case .redis:
            RedisEventTransport(
                client: try await Self.client.value, keyPrefix: RedisServer.uniquePrefix(), appendTimeout: .seconds(60))
        case .redisCluster:
            RedisEventTransport(
                client: try await Self.clusterClient.value, keyPrefix: RedisServer.uniquePrefix(), appendTimeout: .seconds(60))
        }
    }

    /// The client of all tests that do nothing to the server.
    private static let client = Task { try redisClient(url: await RedisServer.shared().url) }
    private static let cluster = Task { try await RedisClusterServers.start() }
    private static let clusterClient = Task { try redisClient(url: await cluster.value.url) }
}

private func redisClient(url: String) throws -> RedisClient {
    // The limits only end hanging tests.
    var configuration = try RedisConfiguration(url: url)
    (configuration.connectTimeout, configuration.commandTimeout) = (.seconds(60), .seconds(60))
    return RedisClient(configuration: configuration, logger: .quiet)
}

/// Runs `body` with a transport over a client of its own.
func withRedisTransport(
    on server: RedisServer, prefix: String = RedisServer.uniquePrefix(), _ body: (RedisEventTransport) async throws -> Void
) async throws {
    let client = try redisClient(url: server.url)
    do {
        try await body(RedisEventTransport(client: client, keyPrefix: prefix, appendTimeout: .seconds(60)))
        await client.shutdown()
    } catch {
        await client.shutdown()
        throw error
    }
}

extension Logger {
    /// A logger without output, because tests provoke failures.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
