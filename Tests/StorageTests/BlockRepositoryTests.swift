import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import Accounts
@testable import Topics

struct BlockRepositoryTests {
    @Test(.storage) func `messages and photos of blocked users are not unread, those of others are`() async throws {
        let chat = try await TestChat.make()
        let (ada, ben) = (chat.users[0], chat.users[1])
        #expect(try await chat.topics.bring(chat.users[2], to: .chat, by: ada) == .done(changed: true))
        _ = try await chat.post("m-1", by: 0)
        _ = try await chat.post("m-2", by: 2)
        _ = try await chat.topics.add(ada, by: ada)
        _ = try await chat.topics.add(ben, by: ada)
        _ = try await chat.topics.add(chat.users[2], by: ada)
        let photos = TopicPhotoRepository(client)
        for (number, uploader) in [ada, chat.users[2]].enumerated() {
            let photo = NewTopicPhoto(topic: .party, uploaderID: uploader, photoKey: "k\(number)")
            #expect(try await photos.insert(photo) != nil)
            #expect(try await photos.markReady(id: photo.id, thumbnailKey: "t"))
        }
        #expect(try await chat.unread()[ben] == 4)
        try await block(ada, by: ben)
        #expect(try await chat.unread()[ben] == 2)
        try await block(chat.users[2], by: ben)
        #expect(try await chat.unread()[ben] == nil)
        try await PeopleListRepository(.blocks, client).remove(ada, for: ben)
        #expect(try await chat.unread()[ben] == 2)
        #expect(try await chat.repository.markRead(.chat, by: ben) == .unread(0))
        #expect(try await chat.unread()[ben] == 1, "what was read before stays read")
    }

    @Test(.storage) func `the blockers of a sender are found among the members of the topic`() async throws {
        let chat = try await TestChat.make()
        let (ada, ben, eve) = (chat.users[0], chat.users[1], chat.users[2])
        try await block(ada, by: ben)
        try await block(ada, by: eve)
        let rows = try await client.query("SELECT id FROM topics WHERE name = \(TopicName.chat.text)")
        let topicID: UUID = try rows[0].decode("id")
        let blocks = BlockRepository(client)
        #expect(try await blocks.blockers(in: [(topicID, ada), (topicID, eve)]) == [ada: [ben]], "Eve is no member")
        #expect(try await blocks.blockers(in: []).isEmpty)
    }

    private func block(_ blocked: UUID, by user: UUID) async throws {
        #expect(try await client.withTransaction { try await PeopleListRepository(.blocks, $0).add(blocked, for: user) })
    }
}
