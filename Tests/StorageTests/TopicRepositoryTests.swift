import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

struct TopicRepositoryTests {
    @Test func `the first user who enters owns the topic, and others enter it when invited`() async throws {
        try await withTopics { topics, users in
            #expect(try await topics.add(users[0], by: users[0]) == .done(changed: true))
            #expect(try await topics.bring(users[1], by: users[0]) == .done(changed: true))
            #expect(try await topics.add(users[1], by: users[0]) == .done(changed: false))
            let topic = try #require(try await topics.find(seenBy: users[1]))
            #expect(topic.ownerID == users[0] && topic.memberCount == 2 && topic.name == .party)
            #expect(try await topics.members(topic.id) == Set(users[0...1]))
        }
    }

    @Test func `other users learn nothing of a topic, except that its name is taken`() async throws {
        try await withTopics { topics, users in
            _ = try await topics.add(users[0], by: users[0])
            #expect(try await topics.add(users[1], by: users[1]) == .forbidden)
            #expect(try await topics.add(users[2], by: users[1]) == .notFound)
            #expect(try await topics.remove(users[0], by: users[1]) == .notFound)
            #expect(try await topics.remove(users[1], by: users[1]) == .notFound)
            #expect(try await topics.find(seenBy: users[1]) == nil)
        }
    }

    @Test func `members who are not the owner may only leave`() async throws {
        try await withTopics { topics, users in
            _ = try await topics.add(users[0], by: users[0])
            _ = try await topics.bring(users[1], by: users[0])
            #expect(try await topics.add(users[2], by: users[1]) == .forbidden)
            #expect(try await topics.remove(users[0], by: users[1]) == .forbidden)
            #expect(try await topics.remove(users[1], by: users[1]) == .done(changed: true))
            #expect(try await topics.remove(users[1], by: users[1]) == .notFound)
            #expect(try await topics.remove(users[1], by: users[0]) == .done(changed: false))
            #expect(try await topics.find(seenBy: users[0])?.memberCount == 1)
        }
    }

    @Test func `a user who left cannot be added by others, and may return until the owner forbids it`() async throws {
        try await withTopics { topics, users in
            _ = try await topics.add(users[0], by: users[0])
            _ = try await topics.bring(users[1], by: users[0])
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
    }

    @Test func `a removed user can be added again by the owner only`() async throws {
        try await withTopics { topics, users in
            _ = try await topics.add(users[0], by: users[0])
            _ = try await topics.bring(users[1], by: users[0])
            _ = try await topics.remove(users[1], by: users[0])
            #expect(try await topics.add(users[1], by: users[1]) == .forbidden)
            #expect(try await topics.bring(users[1], by: users[0]) == .done(changed: true))
        }
    }

    @Test func `when the owner leaves, the member of longest standing owns the topic, and the last one ends it`() async throws {
        try await withTopics { topics, users in
            _ = try await topics.add(users[0], by: users[0])
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
    }

    @Test func `one of many concurrent calls creates a topic`() async throws {
        try await withTopics(users: 8) { topics, users in
            for round in 0..<5 {
                let name = try #require(TopicName("event:race-\(round)"))
                let results = try await race(8) { try await topics.add(users[$0], to: name, by: users[$0]) }
                #expect(results.count { $0 == .done(changed: true) } == 1)
                #expect(results.count { $0 == .forbidden } == 7)
            }
        }
    }

    @Test func `the count of members is right after concurrent changes`() async throws {
        try await withTopics { topics, users in
            _ = try await topics.add(users[0], by: users[0])
            let others = (0..<6).map { _ in UUID() }
            _ = try await race(36) { index in
                let other = others[index % 6]
                return index % 3 == 0
                    ? try await topics.remove(other, by: users[0]) : try await topics.bring(other, by: users[0])
            }
            let topic = try #require(try await topics.find(seenBy: users[0]))
            #expect(try await topics.members(topic.id).count == topic.memberCount)
        }
    }

    @Test func `limits of members and of owned topics hold`() async throws {
        try await withTopics { topics, users in
            _ = try await topics.add(users[0], by: users[0])
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
    }

    @Test func `paging returns each member once`() async throws {
        try await withTopics { topics, users in
            _ = try await topics.add(users[0], by: users[0])
            for _ in 0..<10 { _ = try await topics.bring(UUID(), by: users[0]) }
            let topic = try #require(try await topics.find(seenBy: users[0]))
            var (seen, last): ([UUID], UUID?) = ([], nil)
            repeat {
                let page = try await TopicRepository(topics.client).members(of: topic.id, after: last, limit: 4)
                seen += page.map(\.userID)
                last = page.last?.userID
            } while last != nil
            #expect(seen.count == 11 && Set(seen).count == 11)
        }
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
        #expect(name.kind == .conversation && name.id == "A-z_09" && name.text == "conversation:A-z_09")
    }
}

/// Topics as identity-api changes them: each change is a transaction.
struct TestTopics: Sendable {
    let client: PostgresClient

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

func withTopics(users count: Int = 3, _ body: (TestTopics, [UUID]) async throws -> Void) async throws {
    try await withStorage { client in
        var users: [UUID] = []
        for seed in 0..<count { users.append(try await UserRepository(client).make(seed + 1).id) }
        try await body(TestTopics(client: client), users)
    }
}
