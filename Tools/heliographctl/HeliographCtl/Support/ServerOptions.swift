internal import ArgumentParser
internal import EventBus
internal import PostgresClient

/// The options for the connections to Redis and the database.
struct ServerOptions: ParsableArguments {
    @OptionGroup var redis: RedisOptions
    @OptionGroup var database: DatabaseOptions

    /// Timeout of a query to the database.
    static let queryTimeout: Duration = .seconds(10)

    /// Runs `body` with both servers, once both have answered.
    func withServers(_ body: (RedisEventTransport, PostgresClient) async throws -> Void) async throws {
        try await redis.withTransport { transport in
            try await database.withDatabase(queryTimeout: Self.queryTimeout) { postgres in
                try await body(transport, postgres)
            }
        }
    }
}
