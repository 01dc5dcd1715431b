import Foundation
public import HTTPClient
import Logging
internal import Schema
import Synchronization

/// The whole system as real processes: Redis, Postgres, the emulator of Google and the five services.
public final class Stack: Sendable {
    /// The names of the executables, in the order in which they are started.
    public static let services = ["token-registry", "notifier", "face-matching-worker", "image-worker", "identity-api"]

    /// The stack that the tests of this process share; it starts once, and ends with the process.
    public static func shared() async throws -> Stack { try await running.value }
    private static let running = Task { try await Stack.start(traces: try await TraceCollector()) }

    /// The settings without limits of accounts and addresses: tests and measurements use one of each in place of many.
    private static let noLimits = [
        "IMAGE_JOBS_OPEN_PER_USER": "0", "EKYC_UNDECIDED_PER_ADDRESS": "0", "EKYC_IN_FLIGHT_PER_ADDRESS": "0",
        "EKYC_FIRST_SECONDS_PER_ADDRESS": "0", "EKYC_FIRST_SECONDS_PER_ACCOUNT": "0", "EKYC_SECONDS_PER_ADDRESS": "0",
        "SIGN_IN_FAILURES_PER_ADDRESS": "0", "SIGN_IN_FAILURES_TOTAL": "0", "CODE_MAILS_PER_MINUTE": "0",
    ]

    /// The origin of links to pictures, as in production; tests replace it by ``apiURL``.
    public static let publicURL = "https://api.example.org"
    /// The origin of identity-api.
    public let apiURL: String
    /// The origin of the emulator's control API.
    public let fcmURL: String
    /// The port of the emulator's FCM on 127.0.0.1, by TLS.
    public let fcmPort: Int
    /// The port of the emulator's mail server on 127.0.0.1.
    public let smtpPort: Int
    /// The database of the services, with the URL of the superuser.
    public let database: TestDatabase
    /// The one server, or the first master of the cluster at the start.
    public let redis: RedisServer
    private let redisURL: String
    /// Kept because its servers end with it.
    private let cluster: RedisClusterServers?
    /// The client for ``apiURL``, the emulator's control API and the admin ports; it speaks HTTP/1.1 without TLS.
    public let http: HTTPClient
    /// The collector of the services' traces.
    public let traces: TraceCollector?
    /// The folder of the blob store, unless the settings of the stack name another store.
    public var blobFolder: String { folder.path + "/blobs" }
    /// The folder of the services' temporary files.
    public var spoolFolder: String { folder.path + "/spool" }
    /// The environment variables of all services, secrets included; the database is that of the superuser.
    public let environment: [String: String]
    private let adminPorts: [String: Int]
    private let credentials: ServiceCredentials
    private let folder: TemporaryDirectory
    private let logs: String
    private let processes = Mutex<[String: GuardedProcess]>([:])

    private init(
        database: TestDatabase, redis: RedisServer, cluster: RedisClusterServers?, credentials: ServiceCredentials,
        folder: TemporaryDirectory,
        environment: [String: String], adminPorts: [String: Int], apiPort: Int, controlPort: Int, fcmPort: Int, smtpPort: Int,
        traces: TraceCollector?
    ) {
        self.database = database
        self.redis = redis
        self.cluster = cluster
        redisURL = cluster?.url ?? redis.url
        self.credentials = credentials
        self.folder = folder
        logs = ServiceLogs.folder(in: folder)
        self.environment = environment
        self.adminPorts = adminPorts
        self.traces = traces
        apiURL = "http://127.0.0.1:\(apiPort)"
        fcmURL = "http://127.0.0.1:\(controlPort)"
        self.fcmPort = fcmPort
        self.smtpPort = smtpPort
        var configuration = HTTPClientConfiguration()
        configuration.version = .http1
        configuration.allowedSchemes = ["http"]
        configuration.connectTimeout = .seconds(60)
        configuration.maxConnectionsPerHost = 32
        configuration.maxResponseBodyByteCount = 8 << 20
        http = HTTPClient(configuration: configuration, logger: Logger(label: "end-to-end"))
    }

    /// Starts a stack of its own.
    ///
    /// - Parameters:
    ///   - fsync: Whether commits of Postgres wait for the disk, as in production; for measurements.
    ///   - settings: Environment variables of all services, which replace those of the stack.
    ///   - traces: The collector of the traces of all services; without one they send none.
    ///   - services: The services to start; a caller that starts others itself takes their variables from ``environment(of:)``.
    ///   - apiPort: The port of ``apiURL``, if it is not to be a free one.
    ///   - hasLimits: Whether accounts and addresses have the limits of production.
    ///   - isClustered: Whether Redis is a cluster of three masters instead of one server.
    public static func start(
        fsync: Bool = false, settings: [String: String] = [:], traces: TraceCollector? = nil,
        services: [String] = Stack.services, apiPort: Int? = nil, hasLimits: Bool = false, isClustered: Bool = false
    ) async throws -> Stack {
        let models = try PackageRoot.file(".cache/models")
        let (folder, credentials) = (try TemporaryDirectory(), ServiceCredentials())
        async let postgresServer = PostgresServer.start(fsync: fsync)
        let redisSettings = try await ["--stream-node-max-entries", "1", "--aclfile", credentials.writeACL(in: folder)]
        let cluster =
            isClustered ? try await RedisClusterServers.start(persistence: .appendOnly, extraArguments: redisSettings) : nil
        let redis =
            if let cluster { cluster.masters[0].server } else {
                try await RedisServer.start(persistence: .appendOnly, extraArguments: redisSettings)
            }
        let postgres = try await postgresServer
        try FileManager.default.createDirectory(atPath: folder.path + "/spool", withIntermediateDirectories: true)
        try await postgres.psql("CREATE DATABASE heliograph")
        let database = TestDatabase(url: postgres.url(database: "heliograph"), name: "heliograph", server: postgres)
        let control = try PackageRoot.executable("heliographctl")
        try await CommandLineTool.run(
            [control, "migrate", "up", "--service-roles", "--wait", "60"], environment: ["DATABASE_URL": database.url])

        let (api, fcm, tls, smtp) = (try apiPort ?? FreePort.find(), try FreePort.find(), try FreePort.find(), try FreePort.find())
        var environment = [
            "DATABASE_URL": database.url, "REDIS_URL": cluster?.url ?? redis.url, "BLOB_STORE_PATH": folder.path + "/blobs",
            "TMPDIR": folder.path + "/spool",
            "HTTP_HOST": "127.0.0.1", "HTTP_PORT": "\(api)", "ADMIN_HOST": "127.0.0.1",
            "FACE_MODELS_PATH": models,
            "FCM_BASE_URL": "https://localhost:\(tls)", "FCM_TOKEN_URL": "https://localhost:\(tls)/token",
            "FCM_CA_FILE": folder.path + "/fcm.pem", "SMTP_URL": "smtp://localhost:\(smtp)",
            "SMTP_FROM": "Heliograph <no-reply@example.org>", "SMTP_CA_FILE": folder.path + "/fcm.pem",
            "GOOGLE_APPLICATION_CREDENTIALS": folder.path + "/service-account.json", "LOG_LEVEL": "info",
            "FIREBASE_AUTH_PROJECT_ID": "heliograph-dev",
            "FIREBASE_AUTH_KEYS_URL": "http://127.0.0.1:\(fcm)/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
            "PUBLIC_URL": publicURL,
            // heliograph-load sends a few photos again and again, with another comment in each file.
            "FACE_REPLAY_CHECK": "files",
        ]
        for line in try await CommandLineTool.run([control, "keys", "generate"]).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, !line.hasPrefix("#") else { continue }
            environment[String(parts[0])] = String(parts[1]).trimmingCharacters(in: CharacterSet(charactersIn: "\"'"))
        }
        if let traces {
            environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = traces.url
            environment["OTEL_BSP_SCHEDULE_DELAY"] = "200"
        }
        // A cluster has no Unix sockets.
        if isClustered { environment["ALLOW_PLAINTEXT"] = "1" }
        if !hasLimits { environment.merge(Self.noLimits) { $1 } }
        environment.merge(settings) { $1 }
        var adminPorts: [String: Int] = [:]
        for service in Self.services { adminPorts[service] = try FreePort.find() }
        let stack = Stack(
            database: database, redis: redis, cluster: cluster, credentials: credentials, folder: folder, environment: environment,
            adminPorts: adminPorts, apiPort: api, controlPort: fcm, fcmPort: tls, smtpPort: smtp, traces: traces)
        try await stack.startEmulator(port: fcm, tlsPort: tls, smtpPort: smtp)
        for service in services { try stack.launch(service) }
        for service in services { try await stack.waitUntilReady(service) }
        return stack
    }

    private func startEmulator(port: Int, tlsPort: Int, smtpPort: Int) async throws {
        let binary = try PackageRoot.executable("fcm-emulator")
        let process = try GuardedProcess(
            [
                binary, "run", "--host", "127.0.0.1", "--port", "\(port)", "--tls-port", "\(tlsPort)", "--tls-certificate",
                folder.path + "/fcm.pem", "--tls-key", folder.path + "/fcm.key", "--service-account",
                folder.path + "/service-account.json", "--smtp-port", "\(smtpPort)",
            ], log: logFile(of: "fcm-emulator"))
        processes.withLock { $0["fcm-emulator"] = process }
        try await process.waitUntil("the emulator answers") {
            (try? await CommandLineTool.run([binary, "healthcheck", "--port", "\(port)"])) != nil
        }
    }

    /// Starts a service; see ``environment(of:)``.
    public func launch(_ service: String) throws {
        let settings = environment(of: service).merging(["ADMIN_PORT": "\(adminPorts[service]!)"]) { $1 }
        let process = try GuardedProcess([PackageRoot.executable(service)], log: logFile(of: service), environment: settings)
        processes.withLock { $0[service] = process }
    }

    /// Returns the environment of a service: with its own role in the database and its own user in Redis, unless the stack was started
    /// with other addresses, and with its own keys alone.
    public func environment(of service: String) -> [String: String] {
        var settings = environment
        guard let role = ServiceRole(rawValue: service) else { return settings }
        if settings["DATABASE_URL"] == database.url { settings["DATABASE_URL"] = database.connecting(as: role.name()).url }
        if settings["REDIS_URL"] == redisURL { settings["REDIS_URL"] = credentials.redisURL(redisURL, of: role) }
        return credentials.withholdingKeys(from: role, settings)
    }

    /// Waits until `/readyz` of a service answers 200.
    ///
    /// - Throws: ``DeadlineExceeded`` when the service was not started, has ended, or is not ready in time.
    public func waitUntilReady(_ service: String) async throws {
        let url = adminURL(of: service) + "/readyz"
        guard let process = processes.withLock({ $0[service] }) else {
            throw DeadlineExceeded(description: "\(service) was not started")
        }
        try await process.waitUntil("\(service) is ready") {
            (try? await http.execute(HTTPClientRequest(url: url)))?.status == 200
        }
    }

    /// Kills a service as `kill -9` does.
    public func kill(_ service: String) async {
        await processes.withLock { $0[service] }?.stop(signal: SIGKILL)
    }

    /// Returns the origin of a service's health and metrics.
    public func adminURL(of service: String) -> String { "http://127.0.0.1:\(adminPorts[service]!)" }

    /// Returns a setting of the services, such as a ring of keys.
    public func setting(_ name: String) -> String? { environment[name] }

    /// Returns the process id of a service.
    public func pid(of service: String) -> Int32? { processes.withLock { $0[service]?.pid } }

    /// Returns the peak memory of a service since it started, in MiB.
    public func peakMemory(of service: String) -> Int? {
        guard let pid = pid(of: service),
            let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        else { return nil }
        return status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }.flatMap { Int($0.filter(\.isNumber)) }.map { $0 / 1_024 }
    }

    /// Sends a service a signal, such as `SIGSTOP`.
    public func signal(_ service: String, _ number: Int32) { processes.withLock { $0[service] }?.signal(number) }

    /// Returns the last log lines of a service.
    public func tail(of service: String, lines: Int = 20) -> String {
        let text = (try? String(contentsOfFile: logFile(of: service), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(lines).joined(separator: "\n")
    }

    /// Returns the logs of all services and of the emulator.
    public func allLogs() -> String {
        (Self.services + ["fcm-emulator"]).map { (try? String(contentsOfFile: logFile(of: $0), encoding: .utf8)) ?? "" }.joined()
    }

    /// Returns the number of files in the blob store.
    public func blobCount() -> Int {
        let names = FileManager.default.enumerator(atPath: blobFolder)?.compactMap { $0 as? String } ?? []
        return names.count { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(blobFolder)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    /// Returns the file with the log of a service, or of an instance that a caller starts itself.
    public func logFile(of service: String) -> String { "\(logs)/\(service).log" }
}
