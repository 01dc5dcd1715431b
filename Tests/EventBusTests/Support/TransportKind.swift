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

    var testDescription: String { rawValue }

    /// Runs `body` with a transport whose streams no other test uses.
    func withTransport(_ body: (any EventTransport) async throws -> Void) async throws {
        switch self {
        case .inMemory: try await body(InMemoryEventTransport())
        case .redis: try await withRedisTransport(on: RedisServer.shared(), body)
        }
    }
}

/// Runs `body` with a transport over a client of its own.
func withRedisTransport(
    on server: RedisServer, prefix: String = RedisServer.uniquePrefix(), _ body: (RedisEventTransport) async throws -> Void
) async throws {
    // The limits only end hanging tests.
    var configuration = try RedisConfiguration(url: server.url)
    (configuration.connectTimeout, configuration.commandTimeout) = (.seconds(60), .seconds(60))
    let client = RedisClient(configuration: configuration, logger: .quiet)
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
