import Accounts
import AsyncPrimitives
import BlobStore
import EventBus
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import Logging
import Mail
import Pictures
import PostgresClient
import Schema
import ServiceLifecycle
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI
@testable import ServiceDefaults

/// A running identity-api with its own database, Redis keys and folder of photos.
struct IdentityFixture: Sendable {
    let port: Int
    /// The context of identity-api, whose client of the database has the role of the service.
    let context: ServiceContext
    /// The client of the owner of the tables, for what other services and operators do.
    let postgres: PostgresClient
    let blobRoot: String
    let http: HTTPClient
    /// The mails that were sent.
    let mailbox: Mailbox
    /// The watcher of the requests that wait for a session.
    let waiters: RowWatcher<Session>
    /// The watcher of the requests that wait for an image job.
    let jobFeed: RowWatcher<ImageJob>
    let keys: AccountKeys

    init(
        port: Int, services: [any Service], context: ServiceContext, postgres: PostgresClient, blobRoot: String, http: HTTPClient,
        mailbox: Mailbox
    ) throws {
        self.port = port
        self.context = context
        self.postgres = postgres
        self.blobRoot = blobRoot
        self.http = http
        self.mailbox = mailbox
        keys = AccountKeys(
            lookupKeys: try context.settings.lookupKeys(), accounts: try context.sealer(.accounts), tokens: try context.sealer(.tokens))
        waiters = try #require(services.lazy.compactMap { $0 as? RowWatcher<Session> }.first)
        jobFeed = try #require(services.lazy.compactMap { $0 as? RowWatcher<ImageJob> }.first)
    }

    /// Sends a request, and holds its answer to the description of the API.
    func send(
        _ method: String, _ path: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> HTTPClientResponse {
        let response = try await http.execute(
            HTTPClientRequest(
                method: method, url: "http://127.0.0.1:\(port)\(path)", headers: headers, body: body, timeout: .seconds(120)))
        DocumentedAnswers.check(response, to: method, path, at: sourceLocation)
        return response
    }

    func send(_ form: Form, to path: String, headers: [(name: String, value: String)] = []) async throws -> HTTPClientResponse {
        try await send("POST", path, headers: [("Content-Type", form.contentType)] + headers, body: form.bytes)
    }

    /// Sends a JSON body.
    func post(_ path: String, _ json: String, bearer: String? = nil) async throws -> HTTPClientResponse {
        let headers = bearer.map { [("Authorization", "Bearer \($0)")] } ?? []
        return try await send("POST", path, headers: [("Content-Type", "application/json")] + headers, body: Array(json.utf8))
    }

    /// Returns the names of all files in the store of photos, including those of interrupted writes.
    func storedFiles() -> [String] {
        (FileManager.default.enumerator(atPath: blobRoot)?.compactMap { $0 as? String } ?? []).filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(blobRoot)/\(name)", isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    func count(_ table: String) async throws -> Int {
        try await postgres.query("SELECT count(*) AS n FROM \(unescaped: table)")[0].decode("n")
    }

    /// Deletes all rows of tables, between the cases of a test.
    func clear(_ tables: String...) async throws {
        for table in tables { try await postgres.execute("DELETE FROM \(unescaped: table)") }
    }

    /// Returns whether a refused upload has left no rows and no files.
    func isUntouched() async throws -> Bool {
        let rows = try await count("sessions") + count("users") + count("outbox")
        return rows == 0 && storedFiles().isEmpty
    }

    /// Starts a session and returns its id and token.
    func start(
        _ path: String = Path.login, _ form: Form = .signIn(), headers: [(name: String, value: String)] = []
    ) async throws -> (id: UUID, token: String) {
        let response = try await send(form, to: path, headers: headers)
        guard response.status == 200, let id = UUID(uuidString: response.json.text("data.session_id") ?? "") else {
            throw UnexpectedAnswer(response: response)
        }
        return (id, response.header("X-Session-Token") ?? "")
    }
}

enum Path {
    static let signUp = "/api/v1/ekyc/upload-photos"
    static let login = "/api/v1/ekyc/login"

    static func session(_ id: UUID) -> String { "/api/v1/ekyc/sessions/\(id.wireString)" }
}

struct UnexpectedAnswer: Error { let response: HTTPClientResponse }

/// Runs a second identity-api with the database, Redis and store of photos of a running one.
func withSecondInstance(
    of first: IdentityFixture, _ change: (inout IdentityAPIConfiguration) -> Void, _ body: (IdentityFixture) async throws -> Void
) async throws {
    var configuration = try testConfiguration()
    change(&configuration)
    try await withServices(first.context, configuration, mailbox: first.mailbox) { port, services in
        try await body(
            IdentityFixture(
                port: port, services: services, context: first.context, postgres: first.postgres, blobRoot: first.blobRoot,
                http: first.http, mailbox: first.mailbox))
    }
}

/// Runs another identity-api with the database, Redis and store of photos of a running one, and with other settings.
func withInstance(
    of first: IdentityFixture, replacing changed: [String: String], _ body: (IdentityFixture) async throws -> Void
) async throws {
    let settings = first.context.settings.replacing(changed)
    let context = try ServiceContext(name: IdentityAPI.name, settings: settings, logger: first.context.logger)
    try await withServices(context, try testConfiguration(), mailbox: first.mailbox, beside: [context.postgres, context.redis]) {
        port, services in
        try await body(
            IdentityFixture(
                port: port, services: services, context: context, postgres: first.postgres, blobRoot: first.blobRoot, http: first.http,
                mailbox: first.mailbox))
    }
}

/// Runs a test with a server on a real port.
///
/// - Parameters:
///   - clock: The clock of the services' components.
///   - sendsMail: Whether events reach their consumers, among them the one that sends mails.
func withIdentityAPI(
    clock: any MonotonicClock = ContinuousClock(), sendsMail: Bool = false, _ change: (inout IdentityAPIConfiguration) -> Void = { _ in },
    _ body: (IdentityFixture) async throws -> Void
) async throws {
    try await withMigratedDatabase { database in
        try await withClient(of: database) { owner in
            let folder = try TemporaryDirectory()
            let role = database.connecting(as: ServiceRole.identityAPI.name())
            let context = try await makeContext(role, blobRoot: folder.path, clock: clock)
            var configuration = try testConfiguration()
            // No worker decides the sessions of tests, so these limits are off; they have tests of their own.
            configuration.limits.undecidedSessions = .none
            configuration.limits.failedSignIns = .none
            change(&configuration)
            let mailbox = Mailbox()
            var servers: [any Service] = [context.postgres, context.redis]
            if sendsMail {
                servers.append(OutboxRelay(transport: context.transport, postgres: context.postgres, logger: context.logger))
            }
            try await withServices(context, configuration, mailbox: mailbox, beside: servers) { port, services in
                let http = testClient(context.logger)
                try await finally {
                    await http.shutdown()
                } after: {
                    try await body(
                        IdentityFixture(
                            port: port, services: services, context: context, postgres: owner, blobRoot: folder.path, http: http,
                            mailbox: mailbox))
                }
            }
        }
    }
}

private func testClient(_ logger: Logger) -> HTTPClient {
    var configuration = HTTPClientConfiguration()
    configuration.version = .http1
    configuration.connectTimeout = .seconds(60)
    configuration.maxConnectionsPerHost = 32
    configuration.allowedSchemes = ["http"]
    return HTTPClient(configuration: configuration, logger: logger)
}

/// Gives a test a running identity-api: the variable ``api``.
struct IdentityAPITrait: TestTrait, TestScoping {
    @TaskLocal fileprivate static var current: IdentityFixture?
    fileprivate var sendsMail = false
    fileprivate let change: @Sendable (inout IdentityAPIConfiguration) -> Void

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withIdentityAPI(sendsMail: sendsMail, change) { api in
            try await Self.$current.withValue(api) { try await function() }
        }
    }
}

extension Trait where Self == IdentityAPITrait {
    static var api: Self { Self(change: { _ in }) }

    /// With the mails that identity-api sends.
    static var apiWithMail: Self { Self(sendsMail: true, change: { _ in }) }

    /// With both a change of the configuration and the mails.
    static func apiWithMail(_ change: @escaping @Sendable (inout IdentityAPIConfiguration) -> Void) -> Self {
        Self(sendsMail: true, change: change)
    }

    static func api(_ change: @escaping @Sendable (inout IdentityAPIConfiguration) -> Void) -> Self { Self(change: change) }
}

/// The identity-api of the test.
var api: IdentityFixture {
    guard let api = IdentityAPITrait.current else { preconditionFailure("the test lacks the trait .api") }
    return api
}

/// Returns a configuration with a free port.
private func testConfiguration() throws -> IdentityAPIConfiguration {
    // Nothing listens there.
    var configuration = IdentityAPIConfiguration(mail: try SMTPConfiguration(url: "smtp://127.0.0.1:1", from: "api@example.org"))
    configuration.port = 0
    configuration.mailRetryDelay = .milliseconds(10)
    // Most tests sign in for something else, and many have no mails.
    configuration.deviceKeys.newDevices = .face
    return configuration
}

/// Runs the services of an identity-api except its sweeper, calls `body` when it listens, and shuts them down.
///
/// Tests sweep by themselves: the first sweep, which a service runs when it starts, would process rows that a test is about to sweep.
private func withServices(
    _ context: ServiceContext, _ configuration: IdentityAPIConfiguration, mailbox: Mailbox, beside others: [any Service] = [],
    _ body: (Int, [any Service]) async throws -> Void
) async throws {
    let (ports, listening) = AsyncStream<Int>.makeStream()
    let services = try IdentityAPI.build(context, configuration: configuration, mail: mailbox) { listening.yield($0) }
    // A clock that a test moves would stall the consumer, which watches its own progress by it.
    let moves = context.clock is ManualClock
    let run = services.filter { !($0 is Sweeper) && !(moves && $0 is EventConsumer) }
    let group = ServiceGroup(services: others + run, logger: context.logger)
    let running = Task { try await group.run() }
    var iterator = ports.makeAsyncIterator()
    let outcome: Result<Void, any Error>
    do {
        let port = await iterator.next() ?? 0
        // The first connection takes long on a busy machine. An attempt is given up after 5 s, as is the first request, which asks for the
        // schema.
        try await eventually("there is a connection to Postgres") {
            (try? await context.postgres.execute(PostgresQuery("SELECT").timeout(.seconds(60)))) != nil
        }
        outcome = .success(try await body(port, services))
    } catch { outcome = .failure(error) }
    await group.triggerGracefulShutdown()
    try await running.value
    try outcome.get()
}

private func makeContext(_ database: TestDatabase, blobRoot: String, clock: any MonotonicClock) async throws -> ServiceContext {
    let logger = Logger(label: "identity-api-tests") { _ in UnavailabilityLog() }
    let key = Data(repeating: 7, count: 32).base64EncodedString()
    return try ServiceContext(
        name: "identity-api",
        settings: Settings(
            environment: [
                "DATABASE_URL": database.url, "REDIS_URL": try await RedisServer.shared().url,
                "REDIS_KEY_PREFIX": RedisServer.uniquePrefix(),
                "BLOB_STORE_PATH": blobRoot, "PUBLIC_URL": "https://api.example.org", "MEDIA_LINK_KEY": key,
            ].merging(TestKeys.settings()) { $1 }), logger: logger, clock: clock)
}

/// Writes why a request was refused with `unavailable`, which a test that did not expect it cannot say; and nothing else.
private struct UnavailabilityLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard let error = event.metadata?["error"], "\(error)".contains("unavailable") else { return }
        FileHandle.standardError.write(Data("\(event.message): \(error)\n".utf8))
    }
}
