import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

/// Tests that what others write about an account after its erasure does not contain its id.
struct ErasedAccountsTests {
    /// Makes three users, of whom the first owns a topic and the second is erased; returns the first and the erased one.
    private func erased() async throws -> (topics: TestTopics, owner: UUID, erased: UUID) {
        let (topics, users) = try await TestTopics.owned()
        let erasure = try await client.beginErasure(of: users[1])
        let erasures = ErasureRepository(client)
        _ = try await client.withTransaction { try await ErasureRepository($0).complete(erasure) }
        try await erasures.store(receipt: "a.b.c", of: erasure.id, at: Date())
        #expect(try await erasures.isErased(users[1]))
        #expect(try await !erasures.isErased(users[2]))
        return (topics, users[0], users[1])
    }

    @Test(.storage, arguments: PeopleList.allCases)
    func `an erased account is on no list of people, and the answer does not tell`(list: PeopleList) async throws {
        let (_, owner, erased) = try await erased()
        let stranger = UUID()
        try await client.withTransaction { transaction in
            #expect(try await PeopleListRepository(list, transaction).add(erased, for: owner))
            try await PeopleListRepository(list, transaction).replace(with: [erased, stranger], for: owner)
        }
        #expect(try await PeopleListRepository(list, client).people(of: owner).map(\.userID) == [stranger])
    }

    @Test(.storage) func `an erased account is not invited, and the invitation counts towards the owner's limit`() async throws {
        let (topics, owner, erased) = try await erased()
        let quota = TopicInvitationQuota(madePerDay: 2)
        for _ in 0..<2 {
            guard case .invited(let invitation) = try await topics.add(erased, by: owner, quota: quota) else {
                Issue.record("the answer differs from that for another id")
                return
            }
            #expect(invitation?.isAnnounced == false)
        }
        guard case .quotaReached = try await topics.add(erased, by: owner, quota: quota) else {
            Issue.record("more invitations are made than the owner may make")
            return
        }
        #expect(try await client.query("SELECT FROM topic_invitations").isEmpty)
        let logged = try await client.query("SELECT user_id FROM topic_invitation_log").column("user_id", as: UUID.self)
        #expect(logged.count == 2 && !logged.contains(erased))
    }

    @Test(.storage) func `an erased account is not reported`() async throws {
        let (_, owner, erased) = try await erased()
        for subject in [erased, UUID()] {
            let report = NewAbuseReport(id: UUID(), reporterID: owner, subject: .user(subject), reason: .spam, textSealed: nil)
            #expect(try await client.withTransaction { try await AbuseReportRepository($0).insert(report) } == nil)
        }
        let subjects = try await client.query("SELECT subject_id FROM reports").column("subject_id", as: String.self)
        #expect(subjects.count == 1 && subjects != [erased.wireString])
    }

    @Test(.storage) func `an app's server does not make an erased account a member of its topic`() async throws {
        let (_, _, erased) = try await erased()
        let name = try #require(TopicName("event:app"))
        try await client.withTransaction { transaction in
            _ = try await TopicRepository(transaction).create(name, ownedBy: "shop")
            #expect(try await TopicRepository(transaction).put(erased, into: name, ownedBy: "shop") == .done(changed: false))
            #expect(try await TopicRepository(transaction).put(UUID(), into: name, ownedBy: "shop") == .done(changed: true))
        }
        #expect(try await client.query("SELECT FROM topic_members WHERE user_id = \(erased)").isEmpty)
    }
}
