import FoundationEssentials
import Pictures
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

struct ConversationRepositoryTests {
    @Test(.storage) func `messages are numbered in order, and repetitions are recognised`() async throws {
        let chat = try await TestChat.make()
        guard case .posted(let first, memberCount: 2) = try await chat.post("m-1", by: 0) else { Issue.record("not posted"); return }
        guard case .posted(let second, memberCount: 2) = try await chat.post("m-2", by: 1) else { Issue.record("not posted"); return }
        #expect(first.number == 1)
        #expect(second.number == 2)
        #expect(first.senderID == chat.users[0])
        #expect(try await chat.post("m-1", by: 0) == .repeated(first), "the notification of the first post is kept")
        #expect(try await chat.post("m-1", by: 0, text: 2) == .idTaken, "with another text")
        #expect(try await chat.post("m-1", by: 1) == .idTaken, "by another user")
    }

    @Test(.storage) func `a message that is posted many times concurrently is posted once`() async throws {
        let chat = try await TestChat.make()
        let results = try await race(8) { _ in try await chat.post("m-1", by: 0) }
        #expect(results.count { if case .posted = $0 { true } else { false } } == 1)
        #expect(results.count { if case .repeated = $0 { true } else { false } } == 7)
        _ = try await race(12) { try await chat.post("n-\($0)", by: $0 % 2) }
        let rows = try await chat.client.query("SELECT seq FROM conversation_messages ORDER BY seq")
        let numbers = try rows.map { try $0.decode("seq", as: Int.self) }
        #expect(numbers == Array(1...13))
    }

    @Test(.storage) func `messages of others are unread until read, and the read mark never moves back`() async throws {
        let chat = try await TestChat.make()
        for number in 1...3 { _ = try await chat.post("m-\(number)", by: 0) }
        #expect(try await chat.unread() == [chat.users[1]: 3])
        #expect(try await chat.repository.markRead(.chat, by: chat.users[1], upTo: "m-2") == .unread(1))
        #expect(try await chat.repository.markRead(.chat, by: chat.users[1], upTo: "m-1") == .unread(1))
        #expect(try await chat.repository.markRead(.chat, by: chat.users[1], upTo: "m-9") == .messageUnknown)
        #expect(try await chat.unread() == [chat.users[1]: 1])
        #expect(try await chat.repository.markRead(.chat, by: chat.users[1]) == .unread(0))
        #expect(try await chat.unread().isEmpty)
    }

    @Test(.storage) func `posting marks earlier messages as read, and a new member starts with nothing unread`() async throws {
        let chat = try await TestChat.make()
        _ = try await chat.post("m-1", by: 0)
        _ = try await chat.post("m-2", by: 1)
        #expect(try await chat.unread() == [chat.users[0]: 1])
        #expect(try await chat.topics.bring(chat.users[2], to: .chat, by: chat.users[0]) == .done(changed: true))
        #expect(try await chat.unread()[chat.users[2]] == nil)
        _ = try await chat.post("m-3", by: 1)
        #expect(try await chat.unread() == [chat.users[0]: 2, chat.users[2]: 1])
    }

    @Test(.storage) func `old messages are deleted, but still count as unread`() async throws {
        let chat = try await TestChat.make()
        _ = try await chat.post("m-1", by: 0)
        try await chat.client.execute("UPDATE conversation_messages SET created_at = now() - interval '31 days'")
        _ = try await chat.post("m-2", by: 0)
        #expect(try await chat.repository.deleteExpired(limit: 10) == 1)
        #expect(try await chat.unread() == [chat.users[1]: 2])
        guard case .posted(let again, _) = try await chat.post("m-1", by: 0) else { Issue.record("not posted"); return }
        #expect(again.number == 3)
    }

    @Test(.storage) func `an installation shows one conversation for the time of its lease`() async throws {
        let chat = try await TestChat.make()
        let presence = PresenceRepository(chat.client)
        let until = try #require(try await presence.show(.chat, on: hash(1), userID: chat.users[0]))
        #expect(try await #require(presence.show(.chat, on: hash(1), userID: chat.users[1])) >= until, "the user who is signed in now")
        #expect(try await !presence.hide(installationKey: hash(1), userID: chat.users[0]), "the former user cannot end it")
        #expect(try await presence.hide(installationKey: hash(1), userID: chat.users[1]))
        _ = try await presence.show(.chat, on: hash(2), userID: chat.users[0])
        #expect(try await presence.deleteExpired(limit: 10) == 0)
        try await chat.client.execute("UPDATE push_presence SET lease_until = now() - interval '1 hour'")
        #expect(try await presence.deleteExpired(limit: 10) == 1)
    }

    @Test(.storage) func `the total counts jobs, existing photos of others, and messages`() async throws {
        let chat = try await TestChat.make()
        let (ada, ben) = (chat.users[0], chat.users[1])
        let job = try await jobs.insert(.make(ben))
        try await jobs.finish(job.id)
        _ = try await chat.post("m-1", by: 0)
        _ = try await chat.topics.add(ada, by: ada)
        _ = try await chat.topics.add(ben, by: ada)
        let photos = TopicPhotoRepository(chat.client)
        for number in 0..<3 {
            let photo = NewTopicPhoto(topic: .party, uploaderID: number == 2 ? ben : ada, photoKey: "k\(number)")
            #expect(try await photos.insert(photo) != nil)
            #expect(try await chat.unread()[ben] == 2 + min(number, 2), "a photo counts when it is ready")
            #expect(try await photos.markReady(id: photo.id, thumbnailKey: "t"))
        }
        #expect(try await chat.unread() == [ada: 1, ben: 4])
        try await chat.client.execute("UPDATE topic_photos SET expires_at = now() WHERE photo_key IN ('k0', 'k2')")
        #expect(try await chat.unread() == [ada: 1, ben: 3])
        #expect(try await chat.repository.markRead(.party, by: ben) == .unread(0))
        try await jobs.markSeen(id: job.id)
        #expect(try await chat.unread() == [ada: 1, ben: 1])
    }
}

/// A conversation with the first two of three users as members.
struct TestChat: Sendable {
    let client: PostgresClient
    let users: [UUID]

    var repository: ConversationRepository { ConversationRepository(client) }
    var topics: TestTopics { TestTopics(client: client) }

    static func make() async throws -> TestChat {
        let (topics, users) = try await TestTopics.make()
        _ = try await topics.add(users[0], to: .chat, by: users[0])
        _ = try await topics.bring(users[1], to: .chat, by: users[0])
        return TestChat(client: topics.client, users: users)
    }

    func post(_ messageID: String, by user: Int, text: Int = 1) async throws -> PostedMessage {
        let new = NewConversationMessage(
            conversation: .chat, messageID: messageID, senderID: users[user], notificationID: UUIDv7.generate(),
            fingerprints: [hash(text)])
        return try await client.withTransaction { try await ConversationRepository($0).post(new) }
    }

    func unread() async throws -> [UUID: Int] { try await UnreadRepository(client).totals(userIDs: users) }
}

extension TopicName {
    static let chat = TopicName("conversation:chat")!
}
