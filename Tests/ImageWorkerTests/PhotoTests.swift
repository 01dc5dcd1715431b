import Accounts
import BlobStore
import EventBus
import Foundation
import ImageProbe
import NIOCore
import PostgresClient
import Push
import TestSupport
import Testing
import Topics
import WireFormat

@Suite struct PhotoTests {
    @Test func `photos of one window make one push with a thumbnail, which leaves out their only uploader`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            try await worker.running {
                let party = try await worker.makeParty()
                var last: TopicPhoto?
                for _ in 0..<4 { last = try await worker.ready(try await worker.addPhoto(by: party.ada)) }
                #expect(try await worker.pushes().isEmpty, "they gather first")
                let push = try await worker.push(ending: "photos of ada")
                #expect(push.kind == .newPhotos && push.recipient == .topic("event:party") && push.lane == .normal)
                guard case .newPhotos(let photos) = push.content else { throw DeadlineExceeded(description: "a push about no photos") }
                #expect(photos.topic == TopicName("event:party"))
                #expect(push.exceptUserID == party.ada)
                let name = try #require(photos.thumbnailKey)
                #expect(name == last?.thumbnailKey && name.hasSuffix(".jpg"))
                let thumbnail = try await worker.blobs.read(BlobKey(name), kind: .media, limit: 300 << 10)
                var probe = ImageProbe()
                try thumbnail.withUnsafeBytes { try probe.feed(RawSpan(_unsafeBytes: $0)) }
                let info = try probe.finish()
                #expect(info.format == .jpeg && info.width == 300 && info.height == 200)
            }
        }
    }

    @Test func `photos of two uploaders are pushed to both`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            try await worker.running {
                let party = try await worker.makeParty()
                for user in [party.ada, party.ben] { _ = try await worker.ready(try await worker.addPhoto(by: user)) }
                let push = try await worker.push(ending: "photos of both")
                #expect(push.exceptUserID == nil)
                #expect(push.references.senderID == party.ben, "whose photo it shows")
            }
        }
    }

    @Test func `a window outlives its worker and is closed once by concurrent workers`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            let party = try await worker.makeParty()
            try await worker.running { _ = try await worker.ready(try await worker.addPhoto(by: party.ada)) }
            #expect(try await worker.pushes().isEmpty)
            try await worker.running {
                try await worker.running { _ = try await worker.push(ending: "the window") }
            }
            #expect(try await worker.pushes().count == 1)
        }
    }

    @Test func `a photo that is delivered repeatedly is announced once`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            try await worker.running {
                let party = try await worker.makeParty()
                let id = try await worker.addPhoto(by: party.ada, requests: 6)
                _ = try await worker.ready(id)
                try await eventually("all deliveries are handled") {
                    try await worker.postgres.query("SELECT message_id FROM inbox WHERE consumer_group = 'image-worker'").count >= 6
                }
                let rows = try await worker.postgres.query("SELECT photo_count FROM topic_photo_windows")
                #expect(try rows.map { try $0.decode("photo_count", as: Int.self) } == [1])
                // The slower worker deletes its thumbnail after it has recorded its delivery in the inbox.
                try await eventually("the photo and one thumbnail are left") { worker.blobs(of: id).count == 2 }
            }
        }
    }

    @Test func `an invalid photo is deleted without a push`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            try await worker.running {
                let party = try await worker.makeParty()
                let id = try await worker.addPhoto(by: party.ada, bytes: [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: 500))
                try await eventually("the photo has failed and is gone") {
                    try await TopicPhotoRepository(worker.postgres).find(id: id)?.state == .failed && worker.blobs(of: id).isEmpty
                }
                #expect(try await worker.postgres.query("SELECT id FROM topic_photo_windows").isEmpty)
            }
        }
    }

    @Test func `files and rows of photos are deleted with their topic`() async throws {
        try await WorkerFixture.with(ScriptedGenerator(.picture)) { worker in
            let party = try await worker.makeParty()
            var id = UUID()
            try await worker.running {
                id = try await worker.addPhoto(by: party.ada)
                _ = try await worker.ready(id)
            }
            try await worker.postgres.withTransaction { transaction in
                for user in [party.ben, party.ada] {
                    _ = try await TopicRepository(transaction).remove(user, from: WorkerFixture.partyName, by: user)
                }
            }
            try await worker.running {
                try await eventually("files and row are gone") {
                    try await worker.postgres.query("SELECT id FROM topic_photos").isEmpty && worker.blobs(of: id).isEmpty
                }
            }
            #expect(try await worker.pushes().isEmpty)
        }
    }
}

extension WorkerFixture {
    static let partyName = TopicName("event:party")!

    struct Party {
        let ada: UUID
        let ben: UUID
    }

    /// Creates the event with two members; its windows stay open until the test closes them.
    func makeParty() async throws -> Party {
        try await postgres.execute(
            """
            CREATE FUNCTION keep_open() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN NEW.due_at := now() + interval ''1 hour''; RETURN NEW; END'
            """)
        try await postgres.execute(
            "CREATE TRIGGER keep_open BEFORE INSERT ON topic_photo_windows FOR EACH ROW EXECUTE FUNCTION keep_open()")
        let ben = try await postgres.makeUser(emailLookup: [UInt8](repeating: 2, count: 32), emailSealed: [1]).id
        for (member, actor) in [(user, user), (ben, user), (ben, ben)] {
            _ = try await postgres.withTransaction { try await TopicRepository($0).add(member, to: Self.partyName, by: actor) }
        }
        return Party(ada: user, ben: ben)
    }

    /// Stores a photo and publishes the request for its thumbnail, as identity-api does.
    func addPhoto(by uploader: UUID, bytes: [UInt8]? = nil, requests: Int = 1) async throws -> UUID {
        let id = UUID()
        let key = try BlobKey("topics/\(id.wireString)/photo")
        let bytes = try bytes ?? Photos.portrait()
        try await blobs.write(key) { try await $0.append(ByteBuffer(bytes: bytes)) }
        try await postgres.withTransaction { transaction in
            let new = NewTopicPhoto(id: id, topic: Self.partyName, uploaderID: uploader, photoKey: key.name)
            #expect(try await TopicPhotoRepository(transaction).insert(new) != nil)
            try await OutboxRepository(transaction).publish(
                (0..<requests).map { _ in PhotoUploaded(photoID: id, topic: Self.partyName.text) }, requestID: "req-1")
        }
        return id
    }

    /// Waits until a photo has its thumbnail.
    func ready(_ id: UUID) async throws -> TopicPhoto {
        try await eventually("photo \(id) is ready") {
            let photo = try await TopicPhotoRepository(postgres).find(id: id)
            return photo?.state == .ready ? photo : nil
        }
    }

    /// Ends the time of a window and waits for its push.
    func push(ending what: String) async throws -> NotificationRequested {
        try await postgres.execute("UPDATE topic_photo_windows SET due_at = now()")
        return try await eventually("the push about \(what)") { try await pushes().first }
    }

    func pushes() async throws -> [NotificationRequested] {
        let type = NotificationRequested.type.rawValue
        return try await postgres.query("SELECT body FROM outbox WHERE type = \(type) ORDER BY id").map { row in
            try EncodedEnvelope(
                id: UUID(), type: NotificationRequested.type, version: NotificationRequested.version, key: "k", occurredAt: Date(),
                body: try row.decode("body")
            ).decode(NotificationRequested.self).body
        }
    }
}
