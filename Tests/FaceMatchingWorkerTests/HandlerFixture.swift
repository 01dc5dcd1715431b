import Accounts
import FaceEngine
import Foundation
import HeliographCrypto
import Logging
import PostgresClient
import Schema
import TestSupport
import Testing
import WireFormat

@testable import BlobStore
@testable import EventBus
@testable import FaceMatchingWorker

/// The handler of `ekyc.requested` behind the bus' own processor, with a database and a store of its own; no Redis.
struct HandlerFixture: Sendable {
    /// The client of the owner of the tables, for what other services do.
    let postgres: PostgresClient
    /// The client of the worker, with its role.
    let service: PostgresClient
    let sealer: Sealer
    let blobs: FaultyBlobStore
    private let folder: TemporaryDirectory
    private let engines: FaceEnginePool
    private let sessionKey = SecureRandom.bytes(32)
    private let logger = Logger(label: "handler-tests") { _ in SwiftLogNoOpLogHandler() }

    /// Runs `body` with a fixture.
    static func with(_ body: (HandlerFixture) async throws -> Void) async throws {
        let (folder, engines) = (try TemporaryDirectory(), try await SharedEngines.pool.value)
        let sealer = Sealer(keyRing: try KeyRing(parsing: KeyRing.generateText()))
        let blobs = FaultyBlobStore(FileSystemBlobStore(root: folder.path, sealer: sealer))
        try await withStorage(as: .faceMatchingWorker) { owner, service in
            try await body(
                HandlerFixture(postgres: owner, service: service, sealer: sealer, blobs: blobs, folder: folder, engines: engines))
        }
    }

    private init(
        postgres: PostgresClient, service: PostgresClient, sealer: Sealer, blobs: FaultyBlobStore, folder: TemporaryDirectory,
        engines: FaceEnginePool
    ) {
        (self.postgres, self.service) = (postgres, service)
        (self.sealer, self.blobs, self.folder, self.engines) = (sealer, blobs, folder, engines)
    }

    /// An empty index of faces, as that of a worker that starts.
    func feed() -> FaceIndexFeed { FaceIndexFeed(postgres: service, sealer: sealer, logger: logger) }

    var uploads: Uploads { Uploads(postgres: postgres, blobs: blobs) }
    var sessions: SessionRepository { SessionRepository(postgres) }
    var pseudonyms: SessionPseudonyms { SessionPseudonyms(sessionKey: sessionKey) }

    /// A session with its request.
    struct Request: Sendable {
        let session: UUID
        let message: Envelope<EkycRequested>
    }

    /// Stores the photos and the session of an upload.
    func upload(
        _ event: EkycEvent, _ photos: [Uploads.Photo]? = nil, user: UUID = UUID(), proof: Uploads.Proof = .email
    ) async throws -> Request {
        let photos = try photos ?? (event == .signUp ? Photos.signUp() : Photos.signIn("person-a"))
        return request(try await uploads.store(event, photos, user: user, proof: proof), event)
    }

    /// Returns the request of a stored session.
    func request(_ id: UUID, _ event: EkycEvent) -> Request {
        Request(session: id, message: Envelope(EkycRequested(sessionID: id, event: event, lane: .new)))
    }

    /// Delivers a request once, as the bus does.
    ///
    /// - Parameters:
    ///   - failures: The failures of earlier deliveries.
    ///   - crashes: The consumers that died while they held it.
    @discardableResult
    func deliver(
        _ request: Request, failures: Int = 0, crashes: Int = 0, policy: DuplicatePolicy = .review
    ) async throws -> ProcessingResult {
        let duplicates = DuplicateCheck(policy: policy, search: DuplicateSearch(feed: feed(), postgres: service, sealer: sealer))
        let handler = EkycRequestedHandler(
            matcher: SessionMatcher(
                postgres: service, sealer: sealer, blobs: blobs, engines: engines, duplicates: duplicates,
                fingerprinter: SharedEngines.fingerprinter, logger: logger,
                signIn: SignInDecision()),
            duplicates: duplicates, sealer: sealer, postgres: service, blobs: blobs, pseudonyms: pseudonyms)
        let group = "face-matching-worker"
        var fields = try request.message.encoded().streamFields
        if failures > 0 {
            fields.append((name: RetryField.failures, value: Array("\(failures)".utf8)))
            fields.append((name: RetryField.groups, value: Array(group.utf8)))
        }
        let entry = DeliveredEntry(id: EntryID(milliseconds: 1, sequence: 1), fields: fields, deliveryCount: 1 + crashes)
        let scope = ConsumerScope(group: group, consumer: "c", stream: request.message.stream, logger: logger)
        let processor = EventHandlerRegistration.handler(handler).makeProcessor(service)
        return try #require(await processor.process([entry], in: scope).first)
    }

    /// Delivers a request that is to be handled, and returns its session.
    func outcome(
        of request: Request, failures: Int = 0, crashes: Int = 0, policy: DuplicatePolicy = .review
    ) async throws -> Session {
        guard case .handled = try await deliver(request, failures: failures, crashes: crashes, policy: policy) else {
            throw DeadlineExceeded(description: "the delivery was not handled")
        }
        return try await session(request)
    }

    func session(_ request: Request) async throws -> Session { try #require(try await sessions.find(id: request.session)) }

    /// The bodies of the events about a session, by type.
    func events(about request: Request) async throws -> [String: String] {
        let rows = try await postgres.query("SELECT type, convert_from(body, 'UTF8') AS body FROM outbox ORDER BY id")
        let events = try rows.map { (try $0.decode("type", as: String.self), try $0.decode("body", as: String.self)) }
        let own = events.filter { $0.1.contains(request.session.wireString) }
        try #require(Set(own.map(\.0)).count == own.count, "an event was published twice")
        return Dictionary(uniqueKeysWithValues: own)
    }

    /// Returns whether the store has photos of a session.
    func hasPhotos(_ request: Request) -> Bool {
        FileManager.default.fileExists(atPath: "\(folder.path)/ekyc/\(request.session.wireString)")
    }

    func count(_ table: String) async throws -> Int {
        try await postgres.query("SELECT count(*) AS n FROM \(unescaped: table)")[0].decode("n")
    }

    /// Stores a face of an account, which is created.
    func enrol(_ user: UUID, sealed: [UInt8]) async throws {
        _ = try await postgres.makeUser(id: user, emailLookup: SHA256.hash("\(user)"), emailSealed: [1])
        let template = NewFaceTemplate(
            userID: user, modelID: FaceModels.modelID, pipelineVersion: Int(EnrolledFace.currentPipelineVersion), templateSealed: sealed)
        #expect(try await FaceTemplateRepository(postgres).insertIfAbsent(template))
    }
}
