import Accounts
import FCMEmulator
import FoundationEssentials
import HeliographCrypto
import Logging
import PostgresClient
import Schema
import ServiceDefaults
import Synchronization
import TestSupport
import Testing

/// Token-registry and notifier as deployed processes, with a database, a key prefix and an FCM emulator of their own.
struct PushSystem: Sendable {
    let emulator: FCMEmulator
    let postgres: PostgresClient
    let redis: RedisServer
    let prefix: String
    let sealer: Sealer
    let services: ServiceProcesses

    static let quiet: Logger = {
        var logger = Logger(label: "push-tests")
        logger.logLevel = .critical
        return logger
    }()

    /// Runs `body` while one of each service runs.
    ///
    /// - Parameters:
    ///   - settings: More environment variables of both. The wait before a retry is half a second unless they say more.
    ///   - running: The services that are started before `body`.
    ///   - server: The server of the database; nil for the one that all tests share.
    static func with(
        settings: [String: String] = [:], on server: PostgresServer? = nil, running: [String] = ["token-registry", "notifier"],
        emulator configure: (inout FCMEmulatorConfiguration) -> Void = { _ in },
        _ body: (PushSystem) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        var configuration = FCMEmulatorConfiguration(directory: try await keyFiles.value.path)
        configuration.smtpPort = 0
        configure(&configuration)
        let emulator = FCMEmulator(configuration: configuration)
        try await emulator.start()
        let redis = try await RedisServer.shared()
        let result = await Result.catching {
            try await withDatabase(on: server) { database in
                let prefix = RedisServer.uniquePrefix()
                let keys = TestKeys.settings()
                let url = emulator.tlsURL ?? ""
                let environment = [
                    "ENVIRONMENT": "local", "REDIS_URL": redis.url, "REDIS_KEY_PREFIX": prefix,
                    "FCM_BASE_URL": url, "FCM_TOKEN_URL": url + "/token",
                    "FCM_CA_FILE": configuration.certificateFile, "SMTP_URL": emulator.smtpURL ?? "",
                    "SMTP_FROM": "Heliograph <no-reply@example.org>", "SMTP_CA_FILE": configuration.certificateFile,
                    "GOOGLE_APPLICATION_CREDENTIALS": configuration.serviceAccountFile,
                    "NOTIFY_RETRY_SECONDS": "0.5", "ADMIN_PORT": "0", "PUBLIC_URL": "https://api.example.org",
                    "MEDIA_LINK_KEY": Base64.encode(SecureRandom.bytes(32)), "BLOB_STORE_PATH": folder.path,
                    "LOG_LEVEL": "debug",
                ].merging(keys) { $1 }.merging(settings) { $1 }
                let services = ServiceProcesses(database: database, environment: environment, logs: ServiceLogs.folder(in: folder))
                try await withClient(of: database) { client in
                    let system = PushSystem(
                        emulator: emulator, postgres: client, redis: redis, prefix: prefix,
                        sealer: try Settings(environment: keys).sealer(.tokens), services: services)
                    for service in running { try services.start(service) }
                    let result = await Result.catching { try await body(system) }
                    await services.stopAll()
                    try result.get()
                }
            }
        }
        await emulator.stop()
        try result.get()
    }

    private static func withDatabase(on server: PostgresServer?, _ body: (TestDatabase) async throws -> Void) async throws {
        if let server { try await withMigratedDatabase(on: server, body) } else { try await withMigratedDatabase(body) }
    }

    /// One folder of key files for all tests, because making RSA keys takes a while.
    private static let keyFiles = Task {
        let directory = try TemporaryDirectory()
        let emulator = FCMEmulator(configuration: FCMEmulatorConfiguration(directory: directory.path))
        try await emulator.start()
        await emulator.stop()
        return directory
    }
}

/// The processes of one test, by the names it gives them.
final class ServiceProcesses: Sendable {
    let database: TestDatabase
    private let environment: [String: String]
    private let logs: String
    private let processes = Mutex<[String: GuardedProcess]>([:])

    init(database: TestDatabase, environment: [String: String], logs: String) {
        self.database = database
        self.environment = environment
        self.logs = logs
    }

    /// Starts a service with its role in the database; `name` tells several of one kind apart, `settings` are its own.
    func start(_ service: String, as name: String? = nil, settings: [String: String] = [:]) throws {
        let role = database.connecting(as: try #require(ServiceRole(rawValue: service)).name())
        let own = ["DATABASE_URL": role.url].merging(environment) { $1 }.merging(settings) { $1 }
        let process = try GuardedProcess([PackageRoot.executable(service)], log: log(of: name ?? service), environment: own)
        processes.withLock { $0[name ?? service] = process }
    }

    /// Whether a service that was started is still the same process.
    func isRunning(_ name: String) -> Bool { processes.withLock { $0[name]?.isRunning ?? false } }

    /// Ends a service as `kill -9` does.
    func kill(_ name: String) async { await processes.withLock { $0.removeValue(forKey: name) }?.stop(signal: 9) }

    /// Shuts all of them down gracefully, so that their last lines are in the logs.
    func stopAll() async {
        let running = processes.withLock { processes in
            defer { processes = [:] }
            return Array(processes.values)
        }
        await withTaskGroup { group in
            for process in running { group.addTask { await process.stop(patience: .seconds(3)) } }
        }
    }

    /// The path of a service's log.
    func log(of name: String) -> String { "\(logs)/\(name).log" }

    /// Reads the logs of all services.
    func allLogs() -> String {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: logs)) ?? []
        return files.filter { $0.hasSuffix(".log") }.sorted()
            .map { String(decoding: FileManager.default.contents(atPath: "\(logs)/\($0)") ?? Data(), as: UTF8.self) }.joined()
    }

    /// Reads the last lines of a service's log, for the message of a failing test.
    func tail(of name: String) -> String {
        let text = String(decoding: FileManager.default.contents(atPath: log(of: name)) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(8).joined(separator: "\n")
    }
}

extension Result where Failure == any Error {
    static func catching(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
