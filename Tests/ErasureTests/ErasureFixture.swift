import Accounts
import BlobStore
import EventBus
import Foundation
import HeliographCrypto
import Logging
import PostgresClient
import Schema
import ServiceDefaults
import TestSupport
import WireFormat

@testable import FaceMatchingWorker
@testable import IdentityAPI
@testable import ImageWorker
@testable import Notifier
@testable import TokenRegistry

/// A database, a blob store, and the erasers of all services.
struct ErasureFixture {
    let database: TestDatabase
    /// The client of the owner of the tables.
    let owner: PostgresClient
    let folder: TemporaryDirectory
    let store: FileSystemBlobStore

    private static let names = ["photo", "thumbnail"]

    /// The erasers, each with the role of its service.
    private var erasers: [(role: ServiceRole, eraser: any UserEraser)] {
        [
            (.identityAPI, IdentityEraser(photos: store)), (.faceMatchingWorker, FaceEraser()), (.imageWorker, PictureEraser(store: store)),
            (.tokenRegistry, PushEraser()), (.notifier, SendEraser()),
        ]
    }

    /// Makes a user of whom nothing but the account is known.
    func makeUser() async throws -> UUID { try await owner.query("INSERT INTO users DEFAULT VALUES RETURNING id").required().decode("id") }

    /// Makes an account that has rows in each table, and objects in each folder; returns the paths of the objects.
    @discardableResult
    func fill(_ person: inout Person, beside other: UUID) async throws -> Set<String> {
        var objects = PersonObjects(of: &person)
        objects.othersSessions = [person.thing(), person.thing()]
        try await database.psql(
            person.account() + person.proofs(of: objects, other: other) + person.belongings(objects, other: other))
        return try await write(objects)
    }

    /// Adds rows and objects to an account once more, as requests that are answered during its erasure.
    func fillLate(_ person: inout Person, beside other: UUID) async throws {
        let objects = PersonObjects(of: &person)
        let lookup = person.lookup()
        try await database.psql(
            person.belongings(objects, other: other) + "INSERT INTO email_lookups (lookup, user_id) VALUES (\(lookup), '\(person.id)')")
        _ = try await write(objects)
    }

    private func write(_ objects: PersonObjects) async throws -> Set<String> {
        let before = try self.objects()
        let things: [(BlobFolder, UUID)] =
            [(.imageJobs, objects.job), (.topicPhotos, objects.photo)]
            + ([objects.session] + objects.othersSessions).map { (.sessions, $0) }
        for (folder, id) in things {
            for name in Self.names { try await store.write([1, 2, 3], to: folder.key(name, of: id)) }
        }
        return try self.objects().subtracting(before)
    }

    /// The paths of all files of the blob store.
    func objects() throws -> Set<String> {
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return Set(
            paths.filter { path in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(folder.path)/\(path)", isDirectory: &isFolder) && !isFolder.boolValue
            })
    }

    /// Begins the erasure of the account; returns its id.
    func begin(of person: Person) async throws -> UUID {
        let request = ErasureRequest(.account, of: person.id, for: .user)
        try await withClient(of: database, as: .identityAPI) { client in
            _ = try await client.withTransaction { try await request.begin(by: .user(person.id), in: $0) }
        }
        return request.id
    }

    /// Runs the eraser of each service once, which reports if it has finished; returns those that have not.
    func runErasers(_ id: UUID) async throws -> [String] {
        var waiting: [String] = []
        for (role, eraser) in erasers {
            try await withClient(of: database, as: role) { client in
                guard let erasure = try await ErasureRepository(client).find(id: id) else { return waiting.append("\(role): no erasure") }
                let ledger = ErasureLedger(postgres: client, erasure: erasure, service: role.rawValue)
                guard try await eraser.erase(erasure, ledger) else { return waiting.append(role.rawValue) }
                try await ErasureRepository(client).finish(id, by: role.rawValue)
            }
        }
        return waiting
    }

    /// Returns the tables whose rows the receipt counts.
    func countedTables(_ id: UUID) async throws -> Set<String> {
        Set(try await ErasureRepository(owner).status(id: id, tokenHash: nil)?.reports.flatMap(\.counts.keys) ?? [])
    }

    /// Has identity-api complete what all services have reported, after the relay has published all events.
    func complete() async throws {
        try await owner.execute("UPDATE outbox SET state = 'confirmed', settled_at = now() WHERE settled_at IS NULL")
        try await withClient(of: database, as: .identityAPI) { client in
            var coordinator = ErasureCoordinator(
                postgres: client, receiptKey: try ErasureReceiptKey(lookupKeys: .test([UInt8](repeating: 1, count: 32))),
                issuer: "https://example.org", logger: Logger(label: "erasure-tests") { _ in SwiftLogNoOpLogHandler() })
            coordinator.quietTime = .zero
            try await coordinator.completeReported()
        }
    }
}

/// Runs `body` with a database and a blob store of its own.
func withErasure(_ body: (ErasureFixture) async throws -> Void) async throws {
    let folder = try TemporaryDirectory()
    let key = Base64.encode([UInt8](repeating: 1, count: 32))
    let store = FileSystemBlobStore(root: folder.path, sealer: Sealer(keyRing: try KeyRing(parsing: "k1:\(key)")))
    try await withMigratedDatabase { database in
        try await withClient(of: database) { try await body(ErasureFixture(database: database, owner: $0, folder: folder, store: store)) }
    }
}
