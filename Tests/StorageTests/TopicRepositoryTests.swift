import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

struct TopicRepositoryTests {
    @Test(.storage) func `a user who left cannot be added by others, and may return until the owner forbids it`() async throws {
        let (topics, users) = try await TestTopics.joined()
        _ = try await topics.remove(users[1], by: users[1])
        #expect(try await topics.add(users[1], by: users[0]) == .forbidden)
        #expect(try await topics.add(users[1], by: users[1]) == .done(changed: true))
        #expect(try await topics.find(seenBy: users[1])?.memberCount == 2)
        _ = try await topics.remove(users[1], by: users[1])
        #expect(try await topics.remove(users[1], by: users[0]) == .done(changed: false))
        #expect(try await topics.add(users[1], by: users[1]) == .forbidden)
        #expect(try await topics.add(users[1], by: users[0]) == .forbidden, "the owner still cannot add the user")
        #expect(try await topics.find(seenBy: users[0])?.memberCount == 1)
    }

    @Test(.storage) func `a removed user can be added again by the owner only`() async throws {
        let (topics, users) = try await TestTopics.joined()
        _ = try await topics.remove(users[1], by: users[0])
        #expect(try await topics.add(users[1], by: users[1]) == .forbidden)
        #expect(try await topics.bring(users[1], by: users[0]) == .done(changed: true))
    }

    @Test(.storage) func `when the owner leaves, the member of longest standing owns the topic, and the last one ends it`() async throws {
        let (topics, users) = try await TestTopics.owned()
        // An id without an account may be a member, but not the owner.
        _ = try await topics.bring(UUID(), by: users[0])
        _ = try await topics.bring(users[1], by: users[0])
        _ = try await topics.bring(users[2], by: users[0])
        #expect(try await topics.remove(users[0], by: users[0]) == .done(changed: true))
        #expect(try await topics.find(seenBy: users[1])?.ownerID == users[1])
        _ = try await topics.remove(users[1], by: users[1])
        #expect(try await topics.find(seenBy: users[2])?.ownerID == users[2])
        #expect(try await topics.remove(users[2], by: users[2]) == .done(changed: true))
        #expect(try await topics.client.query("SELECT id FROM topics").isEmpty)
        #expect(try await topics.client.query("SELECT user_id FROM topic_members").isEmpty)
        #expect(try await topics.add(users[2], by: users[2]) == .done(changed: true), "the name is free again")
    }

    @Test(.storage) func `one of many concurrent calls creates a topic`() async throws {
        let (topics, users) = try await TestTopics.make(users: 8)
        for round in 0..<5 {
            let name = try #require(TopicName("event:race-\(round)"))
            let results = try await race(8) { try await topics.add(users[$0], to: name, by: users[$0]) }
            #expect(results.count { $0 == .done(changed: true) } == 1)
            #expect(results.count { $0 == .forbidden } == 7)
        }
    }

    @Test(.storage) func `the count of members is right after concurrent changes`() async throws {
        let (topics, users) = try await TestTopics.owned()
        let others = (0..<6).map { _ in UUID() }
        _ = try await race(36) { index in
            let other = others[index % 6]
            return index % 3 == 0
                ? try await topics.remove(other, by: users[0]) : try await topics.bring(other, by: users[0])
        }
        let topic = try #require(try await topics.find(seenBy: users[0]))
        #expect(try await topics.members(topic.id).count == topic.memberCount)
    }

    @Test(.storage) func `limits of members and of owned topics hold`() async throws {
        let (topics, users) = try await TestTopics.owned()
        try await topics.client.execute("UPDATE topics SET member_count = \(TopicLimits.maxMembers)")
        #expect(try await topics.add(users[1], by: users[0]) == .limitReached)
        try await topics.client.execute(
            """
            INSERT INTO topics (name, owner_id)
            SELECT 'event:' || n, \(users[0]) FROM generate_series(2, \(TopicLimits.maxOwned)) n
            """)
        let one = try #require(TopicName("event:one-too-many"))
        #expect(try await topics.add(users[0], to: one, by: users[0]) == .limitReached)
        #expect(try await topics.add(users[1], to: one, by: users[1]) == .done(changed: true))
    }

    @Test(arguments: [
        "", "event:", "event:a b", "party:1", "event:ä", "event", "event:1:2", ":1", "Event:1",
        "event:" + String(repeating: "a", count: 65),
    ])
    func `an invalid topic name is refused`(text: String) {
        #expect(TopicName(text) == nil)
    }

    @Test func `a name has a kind and an id`() throws {
        let name = try #require(TopicName("conversation:A-z_09"))
        #expect(name.kind == .conversation)
        #expect(name.id == "A-z_09")
        #expect(name.text == "conversation:A-z_09")
    }
}

/// Topics as identity-api changes them: each change is a transaction.
struct TestTopics: Sendable {
    let client: PostgresClient

    /// Makes users.
    static func make(users count: Int = 3) async throws -> (TestTopics, [UUID]) {
        let topics = TestTopics(client: StorageTests.client)
        var users: [UUID] = []
        for seed in 1...count { users.append(try await topics.client.user(seed)) }
        return (topics, users)
    }

    /// Makes users, of whom the first owns the topic ``TopicName/party``.
    static func owned() async throws -> (TestTopics, [UUID]) {
        let (topics, users) = try await make()
        #expect(try await topics.add(users[0], by: users[0]) == .done(changed: true))
        return (topics, users)
    }

    /// Makes such a topic, and invites the second user.
    static func invited() async throws -> (TestTopics, [UUID]) {
        let (topics, users) = try await owned()
        #expect(try await topics.add(users[1], by: users[0]) != .invited(nil))
        return (topics, users)
    }

    /// Makes such a topic, and lets the second user enter it.
    static func joined() async throws -> (TestTopics, [UUID]) {
        let (topics, users) = try await owned()
        #expect(try await topics.bring(users[1], by: users[0]) == .done(changed: true))
        return (topics, users)
    }

    func add(
        _ user: UUID, to name: TopicName = .party, by actor: UUID, quota: TopicInvitationQuota = TopicInvitationQuota()
    ) async throws -> TopicMemberChange {
        try await client.withTransaction { try await TopicRepository($0).add(user, to: name, by: actor, quota: quota) }
    }

    /// Invites a user by the owner, and enters the topic as the user.
    func bring(_ user: UUID, to name: TopicName = .party, by owner: UUID) async throws -> TopicMemberChange {
        _ = try await add(user, to: name, by: owner)
        return try await add(user, to: name, by: user)
    }

    func remove(_ user: UUID, from name: TopicName = .party, by actor: UUID) async throws -> TopicMemberChange {
        try await client.withTransaction { try await TopicRepository($0).remove(user, from: name, by: actor) }
    }

    func find(seenBy user: UUID) async throws -> Topic? { try await TopicRepository(client).find(.party, seenBy: user) }

    func members(_ id: UUID) async throws -> Set<UUID> {
        Set(try await TopicRepository(client).members(of: id, limit: 100).map(\.userID))
    }
}

extension TopicName {
    static let party = TopicName("event:party")!
}
