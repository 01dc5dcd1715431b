import Accounts
import Foundation
import HTTPClient
import Logging
import PostgresClient
import RedisClient
import Schema
import ServiceLifecycle
import TestSupport
import Testing

@testable import ServiceDefaults

/// A service without components of its own: only those of all services run.
private enum BareService: HeliographService {
    static let name = "bare-service"
    static let summary = "Only what all services have."

    static func build(_ context: ServiceContext) async throws -> [any Service] { [] }
}

@Suite struct ServiceRunnerTests {
    private func settings(_ database: TestDatabase, port: Int) async throws -> Settings {
        Settings(environment: [
            "DATABASE_URL": database.url, "REDIS_URL": try await RedisServer.shared().url, "ADMIN_PORT": "\(port)",
            "REDIS_KEY_PREFIX": RedisServer.uniquePrefix(),
        ])
    }

    @Test func `a service serves its admin port while it runs, and ends on a shutdown`() async throws {
        try await withMigratedDatabase { database in
            let port = try FreePort.find()
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let context = try ServiceContext(name: "bare-service", settings: try await settings(database, port: port), logger: logger)
            let group = try await ServiceRunner.group(for: BareService.self, context: context, signals: [])
            let http = plainHTTP()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await eventually("the service is ready") {
                    (try? await status(of: "/readyz", port: port, http)) == 200 ? () : nil
                }
                let alive = try await status(of: "/livez", port: port, http)
                let metrics = try await status(of: "/metrics", port: port, http)
                #expect(alive == 200)
                #expect(metrics == 200)
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            await http.shutdown()
        }
    }

    @Test func `a service without Postgres is alive but not ready, and reports why`() async throws {
        let server = try await PostgresServer.start()
        let database = TestDatabase(url: server.url(), name: "postgres", server: server)
        try await withClient(of: database) { try await MigrationRunner(client: $0, migrations: HeliographSchema.migrations).migrate() }
        let port = try FreePort.find()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let context = try ServiceContext(name: "bare-service", settings: try await settings(database, port: port), logger: logger)
        // Each check has a timeout of two seconds.
        try await eventually("it is ready") { await context.health.report().isReady }
        await server.stop()
        try await eventually("Postgres alone is missed") { await context.health.report().failures.keys.sorted() == ["postgres"] }
        await context.postgres.shutdown()
        await context.redis.shutdown()
    }

    @Test func `a failed check of liveness makes the admin port ask for a restart, by name`() async throws {
        let port = try FreePort.find()
        let health = HealthRegistry()
        health.registerLiveness("postgres_pool") { throw PostgresError(code: .timeout, message: "stuck") }
        let admin = AdminServer(
            name: "tests", address: ("127.0.0.1", port), health: health, metrics: PrometheusRegistry(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let http = plainHTTP()
        let run = Task { try await admin.run() }
        let answer = try await eventually("the admin port is open") {
            try? await http.execute(HTTPClientRequest(url: "http://127.0.0.1:\(port)/livez", timeout: .seconds(60)))
        }
        run.cancel()
        _ = await run.result
        await http.shutdown()
        #expect(answer.status == 503)
        #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix("postgres_pool: "))
    }

    @Test func `malformed secrets stop the start and are not printed`() {
        for purpose in KeyPurpose.allCases {
            let settings = Settings(environment: [purpose.setting: "hunter2"])
            let error = #expect(throws: ConfigurationError.self) {
                if purpose == .lookups { _ = try settings.lookupKeys() } else { _ = try settings.sealer(purpose) }
            }
            #expect(error?.name == purpose.setting)
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test(arguments: [
        (
            "http://api.example.org", "x",
            "PUBLIC_URL is not valid: it should be where phones reach identity-api, such as "
                + "https://api.example.org (http:// for this machine only)"
        ),
        (
            "https://api.example.org", "c2hvcnQ=",
            "MEDIA_LINK_KEY is not 32 bytes in base64: it should be 32 bytes in base64 "
                + "(`heliographctl keys generate` makes one)"
        ),
    ])
    func `links to pictures need a public address and a key`(url: String, linkKey: String, message: String) async throws {
        let environment = [
            "DATABASE_URL": "postgresql://localhost/x", "REDIS_URL": "redis://localhost", "PUBLIC_URL": url, "MEDIA_LINK_KEY": linkKey,
        ]
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let context = try ServiceContext(name: "x", settings: Settings(environment: environment), logger: logger)
        let error = #expect(throws: ConfigurationError.self) { _ = try context.mediaLinks() }
        #expect(error?.description == message)
        await context.postgres.shutdown()
        await context.redis.shutdown()
    }

    private func plainHTTP() -> HTTPClient {
        var configuration = HTTPClientConfiguration()
        configuration.version = .http1
        configuration.allowedSchemes = ["http"]
        configuration.connectTimeout = .seconds(60)
        return HTTPClient(configuration: configuration, logger: Logger(label: "test"))
    }

    private func status(of path: String, port: Int, _ http: HTTPClient) async throws -> Int {
        try await http.execute(HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)", timeout: .seconds(60))).status
    }
}
