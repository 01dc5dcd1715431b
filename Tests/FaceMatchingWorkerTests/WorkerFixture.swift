import Accounts
import BlobStore
import EventBus
import FaceEngine
import Foundation
import HeliographCrypto
import Imaging
import Logging
import PostgresClient
import Schema
import ServiceDefaults
import ServiceLifecycle
import TestSupport
import WireFormat

@testable import FaceMatchingWorker

/// A running worker with a database, a Redis key prefix and a blob store of its own.
struct WorkerFixture {
    /// The context of the worker, whose client of the database has the role of the service.
    let context: ServiceContext
    /// The client of the owner of the tables, for what other services do.
    let postgres: PostgresClient
    let blobs: any BlobStore
    let redis: RedisServer
    let redisPrefix: String
    let blobRoot: String

    var uploads: Uploads { Uploads(postgres: postgres, blobs: blobs) }

    /// Publishes `ekyc.requested`.
    func request(_ id: UUID, _ event: EkycEvent, times: Int = 1) async throws {
        try await postgres.withTransaction { transaction in
            try await OutboxRepository(transaction).publish(
                (0..<times).map { _ in EkycRequested(sessionID: id, event: event, lane: .new) })
        }
    }

    /// Waits until a session has ended, and returns it.
    func outcome(_ id: UUID) async throws -> Session {
        try await eventually("session \(id) to end") {
            let session = try await SessionRepository(postgres).find(id: id)
            return session?.state.isTerminal == true ? session : nil
        }
    }

    /// Stores a session, publishes its event, and waits until it has ended.
    func run(
        _ event: EkycEvent, _ photos: [Uploads.Photo], user: UUID, attemptKey: UUID? = nil, otherAttemptKeys: [UUID] = [],
        proof: Uploads.Proof = .email, consent: ConsentedText? = nil, challenge: [LivenessPose]? = nil
    ) async throws -> Session {
        let id = try await uploads.store(
            event, photos, user: user, attemptKey: attemptKey, otherAttemptKeys: otherAttemptKeys, proof: proof, consent: consent,
            challenge: challenge)
        try await request(id, event)
        return try await outcome(id)
    }

    func count(_ table: String) async throws -> Int {
        try await postgres.query("SELECT count(*) AS n FROM \(unescaped: table)")[0].decode("n")
    }

    /// Returns the number of messages of a stream about a session, or another subject; a message that was sent twice counts once.
    func messages(_ stream: String, about id: UUID) async throws -> Int {
        let lines = try await redis.cli("XRANGE", "\(redisPrefix){\(stream)}", "-", "+").split(separator: "\n")
        var messages: Set<Substring> = []
        var message: Substring = ""
        for (name, value) in zip(lines, lines.dropFirst()) {
            if name == "i" { message = value }
            let isAbout = ["session_id", "subject_id"].contains { value.contains("\"\($0)\":\"\(id.wireString)\"") }
            if isAbout { messages.insert(message) }
        }
        return messages.count
    }

    /// Waits for the push about a session, and returns the account that it names.
    func pushedUser(of id: UUID) async throws -> UUID {
        try await eventually("the push about \(id)") {
            let lines = try await redis.cli("XRANGE", "\(redisPrefix){notification.requested}", "-", "+").split(separator: "\n")
            let line = lines.first { $0.contains("\"session_id\":\"\(id.wireString)\"") }
            let match = try line?.firstMatch(of: Regex("\"user_id\":\"([0-9a-f-]{36})\"", as: (Substring, Substring).self))
            return match.flatMap { UUID(uuidString: String($0.1)) }
        }
    }

    /// Returns whether the session still has blobs.
    func hasBlobs(_ id: UUID) -> Bool { blobCount(id) > 0 }

    /// Returns the number of blobs that the session still has.
    func blobCount(_ id: UUID) -> Int {
        let paths = FileManager.default.enumerator(atPath: blobRoot)?.compactMap { $0 as? String } ?? []
        return paths.count { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: blobRoot + "/" + path, isDirectory: &isFolder)
            return path.contains(id.wireString) && !isFolder.boolValue
        }
    }
}

/// The service on engines that all tests share: each start of engines loads the models and checks them, which takes half a second.
enum SharedEngines: HeliographService {
    static let name = FaceMatchingWorker.name
    static let summary = FaceMatchingWorker.summary
    /// Made once: a debug build takes long to derive the directions.
    static let fingerprinter = PhotoFingerprinter(sessionKey: SecureRandom.bytes(32))
    static let decoder = ImageDecoder(
        sandbox: .required, logger: Logger(label: "face-matching-worker-tests") { _ in SwiftLogNoOpLogHandler() })
    static let pool = Task {
        try await FaceEnginePool.start(modelsDirectory: PackageRoot.file(".cache/models"), threads: 2, decoder: decoder)
    }

    static func build(_ context: ServiceContext) async throws -> [any Service] {
        try await build(context, liveness: LivenessCheck())
    }

    static func build(_ context: ServiceContext, liveness: LivenessCheck) async throws -> [any Service] {
        let blobs = try context.blobStore(.faces)
        let sealer = try context.sealer(.faces)
        let feed = FaceIndexFeed(postgres: context.postgres, sealer: sealer, logger: context.logger)
        let duplicates = DuplicateCheck(
            policy: .review, search: DuplicateSearch(feed: feed, postgres: context.postgres, sealer: sealer))
        let matcher = SessionMatcher(
            postgres: context.postgres, sealer: sealer, blobs: blobs, engines: try await pool.value, duplicates: duplicates,
            fingerprinter: fingerprinter, logger: context.logger,
            signIn: SignInDecision(), liveness: liveness)
        let handler = EkycRequestedHandler(
            matcher: matcher, duplicates: duplicates, sealer: sealer, postgres: context.postgres, blobs: blobs,
            pseudonyms: SessionPseudonyms(sessionKey: try context.settings.sessionKey()))
        var configuration = EventConsumerConfiguration()
        configuration.concurrency = 4
        return [try context.consumer(configuration: configuration, handlers: [.handler(handler)])]
    }
}

/// The same service with a check that every answer to a challenge passes.
enum PassingLiveness: HeliographService {
    static let name = SharedEngines.name
    static let summary = SharedEngines.summary

    static func build(_ context: ServiceContext) async throws -> [any Service] {
        try await SharedEngines.build(context, liveness: LivenessCheck { _, _ in .passed })
    }
}

/// Runs `body` while a worker runs, and shuts the worker down afterwards.
///
/// - Parameter service: The service; ``FaceMatchingWorker`` reads its settings and starts engines of its own, as deployed.
func withWorker(
    _ service: (some HeliographService).Type = SharedEngines.self, environment: [String: String] = [:],
    _ body: (WorkerFixture) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let redis = try await RedisServer.shared()
    let prefix = RedisServer.uniquePrefix()
    let models = try PackageRoot.file(".cache/models")
    try await withMigratedDatabase { database in
        let settings = Settings(
            environment: [
                "DATABASE_URL": database.connecting(as: ServiceRole.faceMatchingWorker.name()).url, "REDIS_URL": redis.url,
                "REDIS_KEY_PREFIX": prefix, "ADMIN_PORT": "0", "BLOB_STORE_PATH": directory.path, "FACE_MODELS_PATH": models,
            ].merging(TestKeys.settings()) { $1 }.merging(environment) { $1 })
        var logger = Logger(label: "face-matching-worker-tests")
        logger.logLevel = .critical
        let context = try ServiceContext(name: "face-matching-worker", settings: settings, logger: logger)
        let group = try await ServiceRunner.group(for: service, context: context, signals: [])
        let running = Task { try await group.run() }
        do {
            try await withClient(of: database) { owner in
                try await body(
                    WorkerFixture(
                        context: context, postgres: owner, blobs: try context.blobStore(.faces), redis: redis, redisPrefix: prefix,
                        blobRoot: directory.path))
            }
        } catch {
            await group.triggerGracefulShutdown()
            try? await running.value
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running.value
    }
}
