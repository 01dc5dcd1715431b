internal import ArgumentParser
internal import EventBus
internal import PostgresClient

/// The options for the connections to Redis and the database.
struct ServerOptions: ParsableArguments {
    @OptionGroup var redis: RedisOptions
    @OptionGroup var database: DatabaseOptions

    /// Runs `body` with both servers, once both have answered.
    func withServers(_ body: (RedisEventTransport, PostgresClient) async throws -> Void) async throws {
        try await redis.withTransport { transport in
            try await database.withDatabase { postgres in
                try await body(transport, postgres)
            }
        }
    }
}
