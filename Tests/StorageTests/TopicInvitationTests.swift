import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

struct TopicInvitationTests {
    @Test(.storage) func `inviting again changes nothing, and an expired invitation can be made again`() async throws {
        let (topics, users) = try await TestTopics.invited()
        #expect(try await topics.add(users[1], by: users[0]) == .invited(nil))
        try await topics.client.execute("UPDATE topic_invitations SET expires_at = now()")
        #expect(try await topics.add(users[1], by: users[1]) == .forbidden)
        #expect(try await topics.remove(users[1], by: users[1]) == .notFound)
        _ = try await topics.add(users[1], by: users[0])
        #expect(try await topics.add(users[1], by: users[1]) == .done(changed: true))
    }

    @Test(.storage) func `one of many concurrent calls makes the invitation, and concurrent accepting and declining ends it once`()
        async throws
    {
        let (topics, users) = try await TestTopics.owned()
        for _ in 0..<5 {
            let guest = UUID()
            let made = try await race(8) { _ in try await topics.add(guest, by: users[0]) }
            #expect(made.count { $0 != .invited(nil) } == 1)
            // Accepted and then left, or declined and then returned: the invitation ends once, and both have an effect.
            let ends = try await race(2) {
                $0 == 0 ? try await topics.add(guest, by: guest) : try await topics.remove(guest, by: guest)
            }
            #expect(ends.allSatisfy { $0 == .done(changed: true) })
        }
        let topic = try #require(try await topics.find(seenBy: users[0]))
        #expect(try await topics.members(topic.id).count == topic.memberCount)
        #expect(try await topics.invitations() == 0)
    }

    @Test(.storage) func `a user who declined cannot be invited again, and may return until the owner forbids it`() async throws {
        let (topics, users) = try await TestTopics.invited()
        #expect(try await topics.remove(users[1], by: users[1]) == .done(changed: true))
        #expect(try await topics.remove(users[1], by: users[1]) == .notFound)
        #expect(try await topics.add(users[1], by: users[0]) == .forbidden)
        #expect(try await topics.add(users[1], by: users[1]) == .done(changed: true))
        _ = try await topics.remove(users[1], by: users[1])
        _ = try await topics.remove(users[1], by: users[0])
        #expect(try await topics.add(users[1], by: users[1]) == .forbidden)
    }

    @Test(.storage) func `a full topic refuses a user who was invited while there was room`() async throws {
        let (topics, users) = try await TestTopics.invited()
        try await topics.client.execute("UPDATE topics SET member_count = \(TopicLimits.maxMembers)")
        #expect(try await topics.add(users[1], by: users[1]) == .limitReached)
        #expect(try await topics.invitations() == 1)
    }

    @Test(.storage) func `the daily quota of invitations holds for concurrent calls and across deleted topics`() async throws {
        let (topics, users) = try await TestTopics.make()
        let quota = TopicInvitationQuota(madePerDay: 5)
        _ = try await topics.add(users[0], by: users[0])
        let results = try await race(8) { _ in try await topics.add(UUID(), by: users[0], quota: quota) }
        let refused = results.compactMap { if case .quotaReached(let wait) = $0 { wait } else { nil } }
        #expect(refused.count == 3 && refused.allSatisfy { (.seconds(86_000)...(.seconds(86_400))).contains($0) })
        _ = try await topics.remove(users[0], by: users[0])
        #expect(try await topics.invitations() == 0, "deleted with their topic")
        _ = try await topics.add(users[0], by: users[0])
        guard case .quotaReached = try await topics.add(users[1], by: users[0], quota: quota) else {
            Issue.record("the quota is back")
            return
        }
        try await topics.client.execute("UPDATE topic_invitation_log SET created_at = created_at - interval '1 day'")
        #expect(try await topics.add(users[1], by: users[0], quota: quota) != .forbidden)
        #expect(try await topics.invitations() == 1)
    }

    @Test(.storage, arguments: [TopicInvitationQuota(openPerUser: 2), TopicInvitationQuota(pushedPerDay: 2)])
    func `above the limits of the invited user an invitation is made and can be accepted, but is not pushed`(
        quota: TopicInvitationQuota
    ) async throws {
        let (topics, users) = try await TestTopics.make(users: 5)
        var announced: [Bool] = []
        for (number, owner) in users[1...].enumerated() {
            let name = try #require(TopicName("event:\(number)"))
            _ = try await topics.add(owner, to: name, by: owner)
            guard case .invited(let invitation?) = try await topics.add(users[0], to: name, by: owner, quota: quota) else {
                Issue.record("not invited")
                return
            }
            announced.append(invitation.isAnnounced)
        }
        #expect(announced == [true, true, false, false])
        let last = try #require(TopicName("event:3"))
        #expect(try await topics.add(users[0], to: last, by: users[0]) == .done(changed: true))
    }

    @Test(.storage) func `one account does not use up the pushes of invitations that a user may get from others`() async throws {
        let (topics, users) = try await TestTopics.make(users: 3)
        func invite(by owner: UUID, _ number: Int) async throws -> Bool? {
            let name = try #require(TopicName("event:\(number)"))
            _ = try await topics.add(owner, to: name, by: owner)
            let change = try await topics.add(users[0], to: name, by: owner, quota: TopicInvitationQuota(openPerPair: 2))
            if case .invited(let invitation) = change { return invitation?.isAnnounced }
            return nil
        }
        var announced: [Bool?] = []
        for number in 0..<4 { announced.append(try await invite(by: users[1], number)) }
        #expect(announced == [true, true, false, false])
        #expect(try await invite(by: users[2], 9) == true)
    }

    @Test(.storage) func `expired invitations and old log entries are deleted`() async throws {
        let (topics, users) = try await TestTopics.make()
        let repository = TopicRepository(topics.client)
        _ = try await topics.add(users[0], by: users[0])
        for _ in 0..<3 { _ = try await topics.add(UUID(), by: users[0]) }
        #expect(try await repository.deleteExpiredInvitations(limit: 10) == 0)
        try await topics.client.execute("UPDATE topic_invitations SET expires_at = now() - interval '1 s'")
        try await topics.client.execute("UPDATE topic_invitation_log SET created_at = now() - interval '25 hours'")
        #expect(try await repository.deleteExpiredInvitations(limit: 2) == 2)
        #expect(try await repository.deleteExpiredInvitations(limit: 2) == 1)
        #expect(try await topics.invitations() == 0)
        #expect(try await topics.client.query("SELECT id FROM topic_invitation_log").isEmpty)
    }
}

extension TestTopics {
    func invitations() async throws -> Int { try await client.query("SELECT user_id FROM topic_invitations").count }
}
