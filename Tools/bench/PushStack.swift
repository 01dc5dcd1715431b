internal import Accounts
import EventBus
import FCM
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import Logging
import PostgresClient
import Push
import RedisClient
import Schema
import ServiceDefaults
import TestSupport
import WireFormat

/// The processes that a push passes: Redis, Postgres, the emulator of FCM, token-registry and any number of notifiers.
final class PushStack: Sendable {
    let postgres: PostgresClient
    let http: HTTPClient
    let folder: TemporaryDirectory
    let port: Int
    let tlsPort: Int
    private let server: PostgresServer
    private let redis: RedisServer
    let emulator: GuardedProcess
    private let environment: [String: String]
    private let sealer: Sealer
    /// The relay of this process, which publishes its requests for pushes, as in each service that requests pushes.
    private let relay: Task<Void, any Error>
    private let streams: RedisClient

    private init(
        postgres: PostgresClient, folder: TemporaryDirectory, port: Int, tlsPort: Int, server: PostgresServer,
        redis: RedisServer, emulator: GuardedProcess, environment: [String: String], sealer: Sealer
    ) throws {
        self.postgres = postgres
        self.folder = folder
        self.port = port
        self.tlsPort = tlsPort
        self.server = server
        self.redis = redis
        self.emulator = emulator
        self.environment = environment
        self.sealer = sealer
        var configuration = HTTPClientConfiguration()
        configuration.version = .http1
        configuration.allowedSchemes = ["http"]
        configuration.maxResponseBodyByteCount = 64 << 20
        let logger = Logger(label: "bench")
        let streams = try RedisClient(configuration: RedisConfiguration(url: redis.url), logger: logger)
        self.streams = streams
        let outbox = OutboxRelay(transport: RedisEventTransport(client: streams), postgres: postgres, logger: logger)
        relay = Task { try await outbox.run() }
        http = HTTPClient(configuration: configuration, logger: Logger(label: "bench"))
    }

    /// Starts Redis, Postgres and the emulator, and creates the schema.
    ///
    /// - Parameter emulator: The emulator's executable and what runs it; nil for the executable alone.
    static func start(emulator: [String]? = nil) async throws -> PushStack {
        let redis = try await RedisServer.start(persistence: .appendOnly)
        let server = try await PostgresServer.start(fsync: true, extraArguments: ["-c", "min_wal_size=1GB"])
        try await server.psql("CREATE DATABASE heliograph")
        let url = server.url(database: "heliograph")
        let logger = Logger(label: "bench")
        let postgres = try PostgresClient(configuration: PostgresConfiguration(url: url), logger: logger)
        _ = try await MigrationRunner(client: postgres, migrations: HeliographSchema.migrations).migrate()
        let folder = try TemporaryDirectory()
        let (port, tls) = (try FreePort.find(), try FreePort.find())
        let plain = [try PackageRoot.executable("fcm-emulator")]
        func launch(_ command: [String]) throws -> GuardedProcess {
            try GuardedProcess(
                command + [
                    "run", "--port", "\(port)", "--tls-port", "\(tls)",
                    "--tls-certificate", folder.path + "/fcm.pem", "--tls-key", folder.path + "/fcm.key", "--service-account",
                    folder.path + "/service-account.json", "--log-level", "error",
                ], log: folder.path + "/fcm-emulator.log")
        }
        if emulator != nil {
            // Has the keys made before, because the time for that is different in each run.
            let first = try launch(plain)
            try await first.waitUntil("its keys are made") { FileManager.default.fileExists(atPath: folder.path + "/service-account.json") }
            await first.stop()
        }
        let emulator = try launch(emulator ?? plain)
        let keys = TestKeys.settings()
        let settings = Settings(environment: keys)
        let environment = [
            "ENVIRONMENT": "local", "DATABASE_URL": url, "REDIS_URL": redis.url, "BLOB_STORE_PATH": folder.path, "LOG_LEVEL": "warning",
            "ADMIN_HOST": "127.0.0.1", "ADMIN_PORT": "0",
            "PUBLIC_URL": "https://api.example.org", "MEDIA_LINK_KEY": Base64.encode(SecureRandom.bytes(32)),
            "FCM_BASE_URL": "https://localhost:\(tls)", "FCM_TOKEN_URL": "https://localhost:\(tls)/token",
            "FCM_CA_FILE": folder.path + "/fcm.pem", "GOOGLE_APPLICATION_CREDENTIALS": folder.path + "/service-account.json",
            // The sender is measured without the pacing by FCM's quota.
            "FCM_QUOTA_PER_MINUTE": "100000000", "FCM_BULK_RAMP_SECONDS": "0",
        ].merging(keys) { $1 }
        let stack = try PushStack(
            postgres: postgres, folder: folder, port: port, tlsPort: tls, server: server, redis: redis, emulator: emulator,
            environment: environment, sealer: try settings.sealer(.tokens))
        try await eventually(within: .seconds(30), "the emulator answers") {
            (try? await stack.control("GET", "statistics")) == nil ? nil : ()
        }
        return stack
    }

    /// Starts a service, which is stopped when the last reference to it is released.
    ///
    /// - Parameter command: Its executable and what runs it; nil for the executable alone.
    func launch(_ service: String, by command: [String]? = nil, settings: [String: String] = [:]) throws -> GuardedProcess {
        try GuardedProcess(
            command ?? [PackageRoot.executable(service)], log: folder.path + "/\(service)-\(UUID().uuidString.prefix(4)).log",
            environment: environment.merging(settings) { $1 })
    }

    /// Stops all servers and clients.
    func stop() async {
        relay.cancel()
        _ = await relay.result
        await streams.shutdown()
        await postgres.shutdown()
        await emulator.stop(signal: SIGKILL)
        await redis.stop()
        await server.stop()
        await http.shutdown()
    }

    // MARK: The emulator

    /// Sends a request to the emulator's control API and decodes its JSON.
    func control(_ method: String, _ path: String, body: String = "", timeout: Duration = .seconds(60)) async throws -> JSONAnswer {
        var request = HTTPClientRequest(
            method: method, url: "http://127.0.0.1:\(port)/control/\(path)",
            headers: [("Content-Type", "application/json")], body: Array(body.utf8))
        request.timeout = timeout
        let answer = try await http.execute(request)
        guard (200..<300).contains(answer.status) else {
            throw DeadlineExceeded(description: "the emulator answered \(answer.status)")
        }
        return JSONAnswer.parse(answer.body)
    }

    /// Returns the number of messages that the emulator has accepted.
    func accepted() async throws -> Int { Int(try await control("GET", "statistics")["accepted"].number ?? 0) }

    /// Fetches an access token, as the notifier does.
    func accessToken() async throws -> String {
        let file = URL(fileURLWithPath: folder.path + "/service-account.json")
        let key = try ServiceAccountKey(json: [UInt8](Data(contentsOf: file)))
        var configuration = HTTPClientConfiguration()
        configuration.caFile = folder.path + "/fcm.pem"
        let client = HTTPClient(configuration: configuration, logger: Logger(label: "bench"))
        let source = try CachedTokenSource(
            key: key, tokenURL: "https://localhost:\(tlsPort)/token", http: client, logger: Logger(label: "bench"))
        let token = try await source.accessToken()
        await client.shutdown()
        return token
    }

    /// The URL for sending messages.
    var sendURL: String { "https://localhost:\(tlsPort)/v1/projects/heliograph-dev/messages:send" }

    // MARK: Recipients

    /// The number of installations per statement.
    private static let pageSize = 1000

    /// Creates users with one installation each.
    func populateUsers(_ count: Int) async throws -> [(token: String, userID: UUID)] {
        var all: [(token: String, userID: UUID)] = []
        for start in stride(from: 0, to: count, by: Self.pageSize) {
            let users = (start..<min(start + Self.pageSize, count)).map { _ in UUIDv7.generate() }
            let minted = try await control("POST", "tokens", body: #"{"platform":"ios","count":\#(users.count)}"#)
            let tokens = minted["tokens"].elements.compactMap(\.text)
            try await postgres.execute(
                """
                INSERT INTO users (id, email_sealed)
                SELECT id, '\\x01' FROM unnest(\(users)) AS u (id)
                """)
            let registrations = tokens.map(registration)
            try await postgres.execute(
                """
                INSERT INTO push_installs (installation_key, kind, value_sealed, value_hash, platform, user_id)
                SELECT * FROM unnest(\(registrations.map(\.installationKey)), \(registrations.map(\.kind.rawValue)),
                                     \(registrations.map(\.valueSealed)), \(registrations.map(\.valueHash)),
                                     \(registrations.map(\.platform)), \(users))
                """)
            all += zip(tokens, users).map { (token: $0, userID: $1) }
        }
        try await postgres.execute("ANALYZE")
        return all
    }

    /// Creates users with one installation each, all members of a topic; returns the tokens.
    func populate(topic: String, count: Int) async throws -> [String] {
        let all = try await populateUsers(count)
        try await postgres.execute(
            """
            WITH topic AS (
                INSERT INTO topics (name, owner_id, member_count) VALUES (\(topic), \(all[0].userID), \(count)) RETURNING id)
            INSERT INTO topic_members (topic_id, user_id) SELECT topic.id, u.id FROM topic, unnest(\(all.map(\.userID))) AS u (id)
            """)
        // Brings the tables into the state that autovacuum keeps them in: the space of replaced rows can be used again, and the
        // planner's statistics are current.
        try await postgres.execute("VACUUM (ANALYZE)")
        // From here on the server recycles its old WAL files, by `min_wal_size`, as a server with such a load every day does. It
        // fills a new file with zeros first, for 50 to 130 ms in which no transaction can commit.
        try await postgres.execute("CHECKPOINT")
        return all.map(\.token)
    }

    private func registration(_ token: String) -> PushRegistration {
        let target = PushTarget(token)!
        let key = target.installationKey
        let sealed = try? sealer.seal(Array(token.utf8), context: PushInstall.sealingContext(installationKey: key))
        return PushRegistration(
            installationKey: key, kind: target.kind, valueSealed: sealed ?? [],
            valueHash: target.valueHash, platform: "ios")
    }
}
