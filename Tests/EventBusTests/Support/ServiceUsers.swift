import EventBus
import HeliographCrypto
import Logging
import RedisClient
import TestSupport
import WireFormat

/// The names of all services that read streams.
let streamReaders = Set(EventCatalog.groupsByStream.values.joined()).union([EventCatalog.broadcastReader]).sorted()

/// The password of a service's user in tests.
func redisPassword(of service: String) -> String { "correct-horse-battery-\(service)" }

/// Runs `body` with the transport of an operator, and one of each service's user, on a server of the test's own.
func withServiceUsers(
    _ body: (_ operators: RedisEventTransport, _ services: [String: RedisEventTransport]) async throws -> Void
) async throws {
    // Without these options the server refuses the commands to every user, whatever the rules say.
    let server = try await RedisServer.start(extraArguments: ["--enable-module-command", "yes"])
    let prefix = RedisServer.uniquePrefix()
    try await withRedisTransport(on: server, prefix: prefix) { operators in
        var clients: [RedisClient] = []
        var transports: [String: RedisEventTransport] = [:]
        for service in streamReaders {
            let user = RedisServiceUser(service: service, keyPrefix: prefix)
            let hash = RedisPasswordHash(sha256: Hex.encode(SHA256.hash(redisPassword(of: service))))
            try await operators.setUser(user, passwordHash: hash)
            var configuration = try RedisConfiguration(url: server.url)
            (configuration.username, configuration.password) = (user.name, redisPassword(of: service))
            let client = RedisClient(configuration: configuration, logger: .quiet)
            clients.append(client)
            transports[service] = RedisEventTransport(client: client, keyPrefix: prefix, appendTimeout: .seconds(60))
        }
        var failure: (any Error)?
        do { try await body(operators, transports) } catch { failure = error }
        for client in clients { await client.shutdown() }
        if let failure { throw failure }
    }
    await server.stop()
}
