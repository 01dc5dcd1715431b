import BlobStore
import EventBus
import FaceMatchingWorker
import Foundation
import HeliographCrypto
import Logging
import NIOCore
import PostgresClient
import ServiceDefaults
import ServiceLifecycle
import Storage
import TestSupport
import WireFormat

/// A running worker with a database, a Redis key prefix and a blob store of its own.
struct WorkerFixture {
    let context: ServiceContext
    let blobs: any BlobStore
    let redis: RedisServer
    let redisPrefix: String
    let blobRoot: String

    /// A photo as identity-api stores it.
    struct Upload {
        let pose: SessionPhoto.Pose
        let file: [UInt8]
    }

    /// Stores photos and a session, as an upload does, and returns the session's id; nothing is published.
    func upload(
        _ event: EkycEvent, _ photos: [Upload], user: UUID, authorised: Bool = false, by signIn: UUID? = nil,
        processingTime: Duration? = nil
    ) async throws -> UUID {
        let id = UUID()
        var stored: [SessionPhoto] = []
        for (index, photo) in photos.enumerated() {
            let key = "ekyc/\(id.wireString)/\(index)"
            try await blobs.write(try BlobKey(key)) { try await $0.append(ByteBuffer(bytes: photo.file)) }
            stored.append(SessionPhoto(key: key, pose: photo.pose, sha256: Hex.encode(SHA256.hash(photo.file))))
        }
        var session = NewSession(
            id: id, userID: user, event: event, authorised: authorised, authorisedBy: signIn, tokenHash: SecureRandom.bytes(32),
            photos: stored)
        // The account gets the user id of the first session with its e-mail; identity-api derives that id from the e-mail.
        if event == .signUp, !authorised { session.email = SessionEmail(lookup: SHA256.hash("\(user)"), sealed: [1, 2, 3]) }
        if let processingTime { session.processingTime = processingTime }
        try await SessionRepository(context.postgres).insert(session)
        return id
    }

    /// Publishes `ekyc.requested`.
    func request(_ id: UUID, _ event: EkycEvent, times: Int = 1) async throws {
        try await context.postgres.withTransaction { transaction in
            try await OutboxRepository(transaction).publish(
                (0..<times).map { _ in EkycRequested(sessionID: id, event: event, lane: .new) })
        }
    }

    /// Waits until a session has ended, and returns it.
    func outcome(_ id: UUID) async throws -> Session {
        try await eventually("session \(id) to end") {
            let session = try await SessionRepository(context.postgres).find(id: id)
            return session?.state.isTerminal == true ? session : nil
        }
    }

    /// Stores a session, publishes its event, and waits until it has ended.
    func run(_ event: EkycEvent, _ photos: [Upload], user: UUID, authorised: Bool = false, by signIn: UUID? = nil) async throws -> Session {
        let id = try await upload(event, photos, user: user, authorised: authorised, by: signIn)
        try await request(id, event)
        return try await outcome(id)
    }

    func count(_ table: String) async throws -> Int {
        try await context.postgres.query("SELECT count(*) AS n FROM \(unescaped: table)")[0].decode("n")
    }

    /// Returns the number of messages of a stream about a session; a message that was sent twice counts once.
    func messages(_ stream: String, about id: UUID) async throws -> Int {
        let lines = try await redis.cli("XRANGE", "\(redisPrefix){\(stream)}", "-", "+").split(separator: "\n")
        var messages: Set<Substring> = []
        var message: Substring = ""
        for (name, value) in zip(lines, lines.dropFirst()) {
            if name == "i" { message = value }
            if value.contains("\"session_id\":\"\(id.wireString)\"") { messages.insert(message) }
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
    func hasBlobs(_ id: UUID) -> Bool {
        let paths = FileManager.default.enumerator(atPath: blobRoot)?.compactMap { $0 as? String } ?? []
        return paths.contains { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: blobRoot + "/" + path, isDirectory: &isFolder)
            return path.contains(id.wireString) && !isFolder.boolValue
        }
    }
}

/// Runs `body` while a worker runs, and shuts the worker down afterwards.
func withWorker(
    environment: [String: String] = [:], _ body: (WorkerFixture) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let redis = try await RedisServer.shared()
    let prefix = RedisServer.uniquePrefix()
    let models = try PackageRoot.file(".cache/models")
    try await withEmptyDatabase { database in
        let settings = Settings(
            environment: [
                "DATABASE_URL": database.url, "REDIS_URL": redis.url, "REDIS_KEY_PREFIX": prefix, "ADMIN_PORT": "0",
                "SEALING_KEYS": "k1:\(Data(SecureRandom.bytes(32)).base64EncodedString())",
                "LOOKUP_KEY": Data(SecureRandom.bytes(32)).base64EncodedString(), "BLOB_STORE_PATH": directory.path,
                "FACE_MODELS_PATH": models,
            ].merging(environment) { $1 })
        var logger = Logger(label: "face-matching-worker-tests")
        logger.logLevel = .critical
        let context = try ServiceContext(name: "face-matching-worker", settings: settings, logger: logger)
        _ = try await MigrationRunner(client: context.postgres, migrations: HeliographSchema.migrations).migrate()
        let group = try await ServiceRunner.group(for: FaceMatchingWorker.self, context: context, signals: [])
        let running = Task { try await group.run() }
        let fixture = WorkerFixture(
            context: context, blobs: try context.blobStore(), redis: redis, redisPrefix: prefix, blobRoot: directory.path)
        do {
            try await body(fixture)
        } catch {
            await group.triggerGracefulShutdown()
            try? await running.value
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running.value
    }
}

/// The photos that `make setup` downloads.
enum Photos {
    static func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try PackageRoot.file(".cache/photos/\(name).jpg"))))
    }

    static func signUp() throws -> [WorkerFixture.Upload] {
        let poses: [SessionPhoto.Pose] = [.left, .right, .front]
        return try poses.flatMap { pose in
            try (1...3).map { .init(pose: pose, file: try read("person-a/\(pose.rawValue)-\($0)")) }
        }
    }

    static func signIn(_ person: String) throws -> [WorkerFixture.Upload] {
        try (1...3).map { .init(pose: .any, file: try read("\(person)/sign-in-\($0)")) }
    }
}
