import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

struct TopicPhotoTests {
    @Test(.storage) func `only members add photos, up to the limit of the topic`() async throws {
        let party = try await TestParty.make()
        #expect(try await party.photos.insert(party.photo(of: 0)) != nil)
        #expect(try await party.photos.insert(party.photo(of: 2)) == nil)
        var elsewhere = party.photo(of: 0)
        elsewhere.topic = try #require(TopicName("event:other"))
        #expect(try await party.photos.insert(elsewhere) == nil)
        try await party.client.execute(
            """
            INSERT INTO topic_photos (id, topic_id, uploader_id, photo_key, expires_at)
            SELECT gen_random_uuid(), topic_id, uploader_id, 'k', now() + interval '1 day'
            FROM topic_photos, generate_series(2, \(TopicLimits.maxPhotos))
            """)
        #expect(try await party.photos.insert(party.photo(of: 0)) == nil)
    }

    @Test(.storage) func `one of many concurrent workers makes a photo ready, and the state is final`() async throws {
        let party = try await TestParty.make()
        let photo = try #require(try await party.photos.insert(party.photo(of: 0)))
        let results = try await race(10) { try await party.ready(photo, thumbnail: "t-\($0)") }
        #expect(results.count { $0 } == 1)
        #expect(try await !party.photos.markFailed(id: photo.id))
        let window = try #require(try await party.closeAll().first)
        #expect(window.photoCount == 1)
        #expect(try await party.photos.find(id: photo.id)?.thumbnailKey == window.thumbnailKey)
    }

    @Test(.storage) func `photos are collected in one window, which stores a sole uploader only`() async throws {
        let party = try await TestParty.make()
        for index in 0..<3 { try await party.add(by: 0, "t-\(index)") }
        let alone = try #require(try await party.closeAll().first)
        #expect(alone.uploaderID == party.users[0])
        #expect(alone.photoCount == 3)
        #expect(alone.thumbnailKey == "t-2")
        #expect(alone.topic == .party)
        #expect(alone.memberCount == 2)
        #expect(alone.requestID == "r-1")
        try await party.add(by: 0, "a")
        try await party.add(by: 1, "b")
        try await party.add(by: 1, "c")
        let both = try #require(try await party.closeAll().first)
        #expect(both.uploaderID == nil)
        #expect(both.photoCount == 3)
        #expect(both.id != alone.id)
    }

    @Test(.storage) func `a window is closed when it is due, by one of many concurrent callers`() async throws {
        let party = try await TestParty.make()
        for index in 0..<5 { try await party.add(by: 0, "t-\(index)") }
        // Resets the window to the state of a new one.
        try await party.client.execute("UPDATE topic_photo_windows SET due_at = now() + interval '10 seconds'")
        #expect(try await party.windows.closeDue(limit: 10).isEmpty)
        try await party.makeDue(.zero)
        let closed = try await race(8) { _ in try await party.windows.closeDue(limit: 10) }
        #expect(closed.flatMap { $0 }.count == 1)
    }

    @Test(.storage) func `with concurrent photos and closings, each photo is in exactly one window`() async throws {
        let party = try await TestParty.make()
        let counts = try await race(60) { index in
            if index % 3 == 0 { return try await party.closeAll().map(\.photoCount).reduce(0, +) }
            try await party.add(by: index % 2, "t-\(index)")
            return 0
        }
        let rest = try await party.closeAll().map(\.photoCount).reduce(0, +)
        #expect(counts.reduce(0, +) + rest == 40)
    }

    @Test(.storage) func `a window waits a limited time for a photo that was uploaded in time`() async throws {
        let party = try await TestParty.make()
        try await party.add(by: 0, "t-1")
        let late = try #require(try await party.photos.insert(party.photo(of: 1)))
        try await party.client.execute("UPDATE topic_photos SET created_at = now() - interval '30 s' WHERE id = \(late.id)")
        try await party.makeDue(.seconds(1))
        #expect(try await party.windows.closeDue(limit: 10).isEmpty)
        try await party.makeDue(TopicPhotoWindowRepository.patience + .seconds(1))
        #expect(try await party.windows.closeDue(limit: 10).count == 1)
        #expect(try await party.ready(late, thumbnail: "t-2"))
        #expect(try await party.closeAll().map(\.photoCount) == [1])
    }

    @Test(.storage) func `photos are removed when they expire, and when their topic is deleted`() async throws {
        let party = try await TestParty.make()
        let kept = try #require(try await party.photos.insert(party.photo(of: 0)))
        var short = party.photo(of: 0)
        short.lifetime = .seconds(-1)
        let over = try #require(try await party.photos.insert(short))
        #expect(try await party.photos.removable(limit: 10) == [over.id])
        #expect(try await party.photos.find(id: over.id) == nil)
        #expect(try await party.photos.remove([kept.id, over.id]) == 1)
        for user in [1, 0] { _ = try await party.topics.remove(party.users[user], by: party.users[user]) }
        #expect(try await !party.ready(kept, thumbnail: "t"), "the topic is deleted")
        #expect(try await party.photos.removable(limit: 10) == [kept.id])
        #expect(try await party.photos.remove([kept.id]) == 1)
    }
}

/// The event `event:party` with two members, and a user who is not one.
struct TestParty: Sendable {
    let topics: TestTopics
    let users: [UUID]

    var client: PostgresClient { topics.client }
    var photos: TopicPhotoRepository { TopicPhotoRepository(client) }
    var windows: TopicPhotoWindowRepository { TopicPhotoWindowRepository(client) }

    static func make() async throws -> TestParty {
        let (topics, users) = try await TestTopics.joined()
        return TestParty(topics: topics, users: users)
    }

    func photo(of user: Int) -> NewTopicPhoto { NewTopicPhoto(topic: .party, uploaderID: users[user], photoKey: "topics/x/photo") }

    /// Marks a photo as ready and adds it to the window, like image-worker.
    func ready(_ photo: TopicPhoto, thumbnail: String) async throws -> Bool {
        try await client.withTransaction { transaction in
            guard try await TopicPhotoRepository(transaction).markReady(id: photo.id, thumbnailKey: thumbnail) else { return false }
            try await TopicPhotoWindowRepository(transaction).add(photo, thumbnailKey: thumbnail, requestID: "r-1")
            return true
        }
    }

    func add(by user: Int, _ thumbnail: String) async throws {
        let photo = try #require(try await photos.insert(photo(of: user)))
        #expect(try await ready(photo, thumbnail: thumbnail))
    }

    /// Makes every window due since the given time.
    func makeDue(_ ago: Duration) async throws {
        try await client.execute(
            "UPDATE topic_photo_windows SET due_at = now() - make_interval(secs => \(Double(ago.components.seconds)))")
    }

    func closeAll() async throws -> [TopicPhotoWindow] {
        try await makeDue(.seconds(3_600))
        return try await windows.closeDue(limit: 100)
    }
}
