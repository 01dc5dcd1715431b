import Accounts
import BlobStore
import EventBus
import Foundation
import HeliographCrypto
import ImageGenerators
import ImageWorker
import Logging
import NIOCore
import Pictures
import PostgresClient
import Push
import RedisClient
import Schema
import ServiceDefaults
import ServiceLifecycle
import TestSupport
import Testing
import WireFormat

/// A worker with its own database, Redis server or key prefix, and blob store.
struct WorkerFixture {
    /// The context of the worker, whose client of the database has the role of the service.
    let context: ServiceContext
    /// The client of the owner of the tables, for what other services do.
    let postgres: PostgresClient
    let blobs: any BlobStore
    let redis: RedisServer
    let redisPrefix: String
    let user: UUID
    private let folder: TemporaryDirectory
    private let generator: (any ImageGenerator)?

    var jobs: ImageJobRepository { ImageJobRepository(postgres) }
    var attempts: ImageAttemptRepository { ImageAttemptRepository(postgres) }

    /// Runs `body` with a fixture, and shuts it down gracefully.
    ///
    /// - Parameters:
    ///   - generator: The generator; with nil the settings select it, as in production.
    ///   - ownRedis: Whether the test gets its own Redis server, which it may wipe.
    static func with(
        _ generator: (any ImageGenerator)?, ownRedis: Bool = false, settings: [String: String] = [:],
        _ body: (WorkerFixture) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let redis = ownRedis ? try await RedisServer.start() : try await RedisServer.shared()
        let prefix = RedisServer.uniquePrefix()
        try await withMigratedDatabase { database in
            try await withClient(of: database) { owner in
                let environment = [
                    "DATABASE_URL": database.connecting(as: ServiceRole.imageWorker.name()).url, "REDIS_URL": redis.url,
                    "REDIS_KEY_PREFIX": prefix, "ADMIN_PORT": "0", "BLOB_STORE_PATH": folder.path,
                ].merging(TestKeys.settings()) { $1 }.merging(settings) { $1 }
                var logger = Logger(label: "image-worker-tests")
                logger.logLevel = .critical
                let context = try ServiceContext(
                    name: "image-worker", settings: Settings(environment: environment), logger: logger)
                let user = try await owner.makeUser(emailLookup: SHA256.hash("u"), emailSealed: [1])
                let fixture = WorkerFixture(
                    context: context, postgres: owner, blobs: try context.blobStore(.pictures), redis: redis, redisPrefix: prefix,
                    user: user.id, folder: folder, generator: generator)
                let result = await Result.catching { try await body(fixture) }
                await context.postgres.shutdown()
                await context.redis.shutdown()
                try result.get()
            }
        }
    }

    /// Runs a worker while `body` runs.
    func running(_ body: () async throws -> Void) async throws {
        let relay = OutboxRelay(transport: context.transport, postgres: context.postgres, logger: context.logger)
        let republisher = Republisher(transport: context.transport, postgres: context.postgres, logger: context.logger)
        let services =
            if let generator { try await ImageWorker.services(context, generator: generator) } else {
                try await ImageWorker.build(context)
            }
        let group = ServiceGroup(services: [relay, republisher] + services, logger: context.logger)
        let task = Task { try await group.run() }
        let result = await Result.catching(body)
        await group.triggerGracefulShutdown()
        _ = await task.result
        try result.get()
    }

    // MARK: What identity-api does

    /// Stores an upload and a job, and publishes its request, as identity-api does.
    func submit(
        _ upload: [UInt8]? = nil, template: String = "vintage", width: Int? = nil, height: Int? = nil,
        processingTime: Duration = NewImageJob.defaultProcessingTime, requests: Int = 1, lane: ImageLane = .standard,
        awaitsTurn: Bool = false
    ) async throws -> UUID {
        let id = UUID()
        let key = try BlobKey("images/\(id.wireString)/input")
        let bytes = try upload ?? Photos.portrait()
        try await blobs.write(key) { try await $0.append(ByteBuffer(bytes: bytes)) }
        try await postgres.withTransaction { transaction in
            try await ImageJobRepository(transaction).insert(
                NewImageJob(
                    id: id, userID: user, lane: lane, awaitsTurn: awaitsTurn, templateID: template, width: width, height: height,
                    inputKey: key.name,
                    requestID: "req-1", processingTime: processingTime))
            try await OutboxRepository(transaction).publish(
                (0..<(awaitsTurn ? 0 : requests)).map { _ in ImageRequested(jobID: id, lane: lane) }, requestID: "req-1")
        }
        return id
    }

    /// Makes the blob store fail to write an object by occupying its path.
    func obstruct(_ key: String) throws {
        let path = "\(folder.path)/\(key)/obstacle"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    // MARK: Results

    /// Waits for the end of a job.
    func ended(_ id: UUID) async throws -> ImageJob {
        try await eventually("job \(id) to end") {
            let job = try await jobs.find(id: id)
            return job?.completedAt == nil ? nil : job
        }
    }

    /// The bodies of the events about a job in the outbox, oldest first.
    func events<Body: Event>(_ type: Body.Type, about id: UUID) async throws -> [Body] {
        let rows = try await postgres.query("SELECT body FROM outbox WHERE type = \(type.type.rawValue) ORDER BY id")
        return try rows.map { try $0.decode("body", as: [UInt8].self) }
            .filter { String(decoding: $0, as: UTF8.self).contains(id.wireString) }
            .map { body in
                try EncodedEnvelope(
                    id: UUID(), type: Body.type, version: Body.version, key: "k", occurredAt: Date(), body: body
                ).decode(Body.self).body
            }
    }

    /// Returns whether the picture and thumbnail of a job are its only objects.
    func hasOnlyPictures(_ id: UUID) -> Bool {
        blobs(of: id).map { $0.prefix { $0 != "-" } }.sorted() == ["result", "thumbnail"]
    }

    /// The push about a job; `nil` when there are none or several.
    func onlyPush(about id: UUID) async throws -> NotificationRequested? {
        let pushes = try await events(NotificationRequested.self, about: id)
        return pushes.count == 1 ? pushes[0] : nil
    }

    /// The names of the objects of a job.
    func blobs(of id: UUID) -> Set<String> {
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let files = paths.filter { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isFolder)
            return path.contains(id.wireString) && !isFolder.boolValue
        }
        return Set(files.map { String($0.split(separator: "/").last!) })
    }
}

extension Result where Failure == any Error {
    static func catching(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

/// Photos that `make setup` fetches.
enum Photos {
    static func portrait() throws -> [UInt8] { try read("person-a/front-1") }

    static func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: try PackageRoot.file(".cache/photos/\(name).jpg"))))
    }
}
