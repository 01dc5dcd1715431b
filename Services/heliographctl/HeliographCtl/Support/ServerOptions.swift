internal import ArgumentParser
internal import EventBus
internal import PostgresClient

/// How a command reaches both servers.
struct ServerOptions: ParsableArguments {
    @OptionGroup var redis: RedisOptions
    @OptionGroup var database: DatabaseOptions

    /// How long a look into the database may take.
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
