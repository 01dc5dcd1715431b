public import Accounts
public import AsyncPrimitives
public import EventBus
public import HeliographCrypto
public import HeliographTracing
public import Logging
public import PostgresClient
public import RedisClient
public import Schema

/// The settings and clients that every service is built from.
public struct ServiceContext: Sendable {
    /// The deployed name, such as `notifier`; also the name of its consumer group.
    public let name: String
    /// The settings from the environment and from files, checked when they are read.
    public let settings: Settings
    /// The service's logger; its lines have the service's name.
    public let logger: Logger
    /// Measures the waits of the service's components; tests replace it.
    public let clock: any MonotonicClock
    /// The pool of connections to Postgres. Its writability is a check of readiness, its progress one of liveness.
    public let postgres: PostgresClient
    /// The client of Redis; a ping to it is a check of readiness.
    public let redis: RedisClient
    /// The streams of the bus, on ``redis`` and under the prefix `REDIS_KEY_PREFIX`.
    public let transport: RedisEventTransport
    /// The checks behind `/readyz` and `/livez`; the checks of Postgres, Redis and the schema are already registered.
    public let health: HealthRegistry
    /// Opens when the database has the schema of this version.
    public let schema: SchemaGate
    /// The metrics that `GET /metrics` shows.
    public let metrics: PrometheusRegistry
    /// Age at which a dead letter of this service is deleted (`DEAD_LETTER_DAYS`).
    public let deadLetterAge: Duration
    /// Sends traces; nil without an endpoint.
    public let traces: OTLPExporter?

    /// The time after which a pool that completes nothing, although work waits, has the process restarted.
    static let poolStallLimit: Duration = .seconds(60)

    /// Creates the clients from `settings`; none of them connects before its first use.
    ///
    /// - Parameter schema: The number of the least migration that the service needs.
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong.
    public init(
        name: String, settings: Settings, logger: Logger, metrics: PrometheusRegistry = PrometheusRegistry(),
        clock: any MonotonicClock = ContinuousClock(), schema: Int = HeliographSchema.latest
    ) throws {
        self.name = name
        self.settings = settings
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
        health = HealthRegistry()
        traces = try OTLPConfiguration(settings, service: name).map { OTLPExporter(configuration: $0, logger: logger) }

        let databaseURL = try settings.string(
            "DATABASE_URL", "a libpq URI, such as postgresql://user@host:5432/heliograph",
            about: "Postgres ≥ 15. With several hosts, `host1:5432,host2:5432`, the first that takes writes is used")
        var postgresConfiguration = PostgresConfiguration(url: databaseURL)
        postgresConfiguration.directURL = try settings.optionalString(
            "DATABASE_DIRECT_URL", "the libpq URI of the server itself",
            about: """
                for LISTEN, and for `heliographctl`, when `DATABASE_URL` is a pooler's that pools transactions (PgBouncer ≥ 1.18, or \
                several ≥ 1.19 with `[peers]`); without a pooler leave it out. The limits of sessions are then those of the role \
                (`heliographctl migrate up --service-roles`)
                """)
        postgresConfiguration.applicationName = name
        postgresConfiguration.maxConnections = try settings.int(
            "DATABASE_CONNECTIONS", default: 4, in: 1...64, about: "the connections that a process keeps to Postgres")
        postgres = try PostgresClient(configuration: postgresConfiguration, logger: logger)

        redis = RedisClient(configuration: try RedisConfiguration(settings), logger: logger)
        transport = RedisEventTransport(
            client: redis, keyPrefix: try settings.string("REDIS_KEY_PREFIX", default: "heliograph:", about: "the beginning of all keys"))
        deadLetterAge = .seconds(
            try settings.int(
                "DEAD_LETTER_DAYS", default: 30, in: 1...3650,
                about: "how many days the dead letters of a service wait for an operator before they are deleted") * 24 * 3600)

        health.registerLiveness("postgres_pool") { [postgres] in try postgres.checkProgress(within: Self.poolStallLimit) }
        health.register("postgres") { [postgres] in try await postgres.checkWritable() }
        self.schema = SchemaGate(required: schema, postgres: postgres, logger: logger, clock: clock)
        health.register("schema") { [schema = self.schema] in try await schema.check() }
        health.register("redis") { [redis] in try await redis.ping() }
    }

    /// Creates the sealer of a purpose. A service asks only for those it needs, and is given the keys of no other.
    ///
    /// - Throws: ``ConfigurationError`` when the setting of its keys is missing or wrong.
    public func sealer(_ purpose: KeyPurpose) throws(ConfigurationError) -> Sealer { try settings.sealer(purpose) }
}
