internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import RedisClient
internal import ServiceDefaults

/// The options for the connection to Redis.
struct RedisOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The Redis server: redis://…, rediss://…, unix:///path, redis+sentinel://… or redis+cluster://….",
            discussion: "Default: REDIS_URL of the environment. REDIS_CA_FILE and REDIS_SENTINEL_PASSWORD are read as well.",
            valueName: "url"))
    var redisURL: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The prefix of the installation's keys.",
            discussion: "Default: REDIS_KEY_PREFIX of the environment, or heliograph:.", valueName: "prefix"))
    var redisKeyPrefix: String?

    /// Returns the prefix of the installation's keys.
    func keyPrefix() throws -> String {
        try redisKeyPrefix ?? Settings().optionalString("REDIS_KEY_PREFIX") ?? "heliograph:"
    }

    /// Runs `body` with the transport of the installation, once Redis has answered.
    func withTransport(_ body: (RedisEventTransport) async throws -> Void) async throws {
        let settings = Settings()
        let (configuration, prefix) = try reporting(hint: "--redis-url") {
            var configuration = try RedisConfiguration(settings, url: redisURL)
            configuration.clientName = "heliographctl"
            return (configuration, try keyPrefix())
        }
        let client = RedisClient(configuration: configuration, logger: .silent)
        do {
            try await client.ping()
            try await body(RedisEventTransport(client: client, keyPrefix: prefix))
        } catch let error as RedisError {
            await client.shutdown()
            Console.current.note("Redis cannot be reached at \(configuration): \(error)")
            throw ExitCode.unavailable
        } catch let error as EventBusError where error.code == .unavailable {
            await client.shutdown()
            Console.current.note("The connection to Redis was lost at \(configuration): \(error)")
            throw ExitCode.unavailable
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
    }
}
