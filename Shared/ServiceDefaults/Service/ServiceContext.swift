public import AsyncPrimitives
public import BlobStore
public import EventBus
public import HeliographCrypto
public import HeliographTracing
public import Logging
public import PostgresClient
public import RedisClient

/// The settings and clients that every service is built from.
public struct ServiceContext: Sendable {
    /// The deployed name, such as `notifier`; also the name of its consumer group.
    public let name: String
    public let settings: Settings
    public let logger: Logger
    /// Measures the waits of the service's components; tests replace it.
    public let clock: any MonotonicClock
    public let postgres: PostgresClient
    public let redis: RedisClient
    public let transport: RedisEventTransport
    /// Seals and opens data at rest (`SEALING_KEYS`).
    public let sealer: Sealer
    /// The key of the HMACs under which e-mails and installations are looked up (`LOOKUP_KEY`, 32 bytes).
    public let lookupKey: [UInt8]
    public let health: HealthRegistry
    public let metrics: PrometheusRegistry
    /// Age at which a dead letter of this service is deleted (`DEAD_LETTER_DAYS`).
    public let deadLetterAge: Duration
    /// Sends traces; nil without an endpoint.
    public let traces: OTLPExporter?

    /// Creates the clients from `settings`; none of them connects before its first use.
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong.
    public init(
        name: String, settings: Settings, logger: Logger, metrics: PrometheusRegistry = PrometheusRegistry(),
        clock: any MonotonicClock = ContinuousClock()
    ) throws {
        self.name = name
        self.settings = settings
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
        health = HealthRegistry()
        traces = try OTLPConfiguration(settings, service: name).map { OTLPExporter(configuration: $0, logger: logger) }

        let databaseURL = try settings.string(
            "DATABASE_URL", "a libpq URI, such as postgresql://user@host:5432/heliograph", about: "Postgres ≥ 15")
        var postgresConfiguration = PostgresConfiguration(url: databaseURL)
        postgresConfiguration.directURL = try settings.optionalString(
            "DATABASE_DIRECT_URL", "the libpq URI of the server itself",
            about: """
                for LISTEN, and for `heliographctl`, when `DATABASE_URL` is a pooler's that pools transactions (PgBouncer ≥ 1.18). The \
                role then needs its own limits: `ALTER ROLE heliograph SET statement_timeout = '60s'`, and \
                `idle_in_transaction_session_timeout = '15s'`
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

        sealer = try settings.sealer()
        lookupKey = try settings.secret(
            "LOOKUP_KEY", byteCount: 32,
            about: "the key by which e-mails and installations are looked up, and from which pseudonyms and tokens derive; never changes")

        health.register("postgres") { [postgres] in _ = try await postgres.query("SELECT 1 AS one") }
        health.register("redis") { [redis] in try await redis.ping() }
    }

    /// Creates the media links of a store, which begin with `PUBLIC_URL` and are signed with `MEDIA_LINK_KEY`.
    public func mediaLinks(to blobs: any BlobStore) throws -> MediaLinks {
        MediaLinks(blobs: blobs, signer: try Self.linkSigner(settings))
    }

    static func linkSigner(_ settings: Settings) throws -> MediaLinkSigner {
        let urlExpectation = "where phones reach identity-api, such as https://api.example.org (http:// for this machine only)"
        guard let publicURL = PublicURL(try settings.string("PUBLIC_URL", urlExpectation, about: "what links to pictures begin with"))
        else {
            throw ConfigurationError("PUBLIC_URL", "is not valid", expectation: urlExpectation)
        }
        let key = try settings.secret(
            "MEDIA_LINK_KEY", byteCount: MediaLinkSigner.keyByteCount,
            about: "the key that signs links to pictures; with another one they end")
        return MediaLinkSigner(key: key, publicURL: publicURL)
    }
}
