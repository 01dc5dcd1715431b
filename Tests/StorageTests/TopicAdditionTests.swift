import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

/// Who is added to a topic without an invitation: only who has agreed to that themselves.
struct TopicAdditionTests {
    @Test(.storage) func `who accepted an invitation of the owner is added at once, until they leave`() async throws {
        let (topics, users) = try await TestTopics.joined()
        _ = try await topics.add(users[0], to: .chat, by: users[0])
        #expect(try await topics.add(users[1], to: .chat, by: users[0]) == .done(changed: true))
        #expect(try await topics.invitations() == 0)
        _ = try await topics.remove(users[1], by: users[1])
        // Being in the chat, where others have put the user, is not an acceptance.
        #expect(try await topics.addsAtOnce(users[1], by: users[0]) == false)
    }

    @Test(.storage) func `a topic of another user, or of an app, that both are in is no consent`() async throws {
        let (topics, users) = try await TestTopics.make(users: 3)
        _ = try await topics.add(users[2], by: users[2])
        for guest in users[0...1] { _ = try await topics.bring(guest, by: users[2]) }
        let name = try #require(TopicName("event:app"))
        try await topics.client.withTransaction { transaction in
            _ = try await TopicRepository(transaction).create(name, ownedBy: "shop")
            for user in users { _ = try await TopicRepository(transaction).put(user, into: name, ownedBy: "shop") }
        }
        // The user leaves the app's topic and returns: an entry of their own, and still not one that its owner has asked for.
        _ = try await topics.remove(users[1], from: name, by: users[1])
        #expect(try await topics.add(users[1], to: name, by: users[1]) == .done(changed: true))
        for inviter in [users[0], users[2]] {
            #expect(try await topics.addsAtOnce(users[1], by: inviter) == (inviter == users[2]))
        }
    }

    @Test(.storage) func `who returns, or accepts an invitation of a former owner, has agreed to nothing`() async throws {
        let (topics, users) = try await TestTopics.joined()
        _ = try await topics.add(users[2], by: users[0])
        _ = try await topics.remove(users[1], by: users[1])
        #expect(try await topics.add(users[1], by: users[1]) == .done(changed: true))
        #expect(try await topics.addsAtOnce(users[1], by: users[0]) == false, "the user has returned without being asked")
        _ = try await topics.remove(users[0], by: users[0])
        #expect(try await topics.find(seenBy: users[1])?.ownerID == users[1])
        #expect(try await topics.add(users[2], by: users[2]) == .done(changed: true))
        #expect(try await topics.addsAtOnce(users[2], by: users[1]) == false, "the former owner had invited the user")
    }

    @Test(.storage) func `who accepted an invitation of the former owner has agreed to nothing of the next one`() async throws {
        let (topics, users) = try await TestTopics.joined()
        #expect(try await topics.bring(users[2], by: users[0]) == .done(changed: true))
        _ = try await topics.remove(users[0], by: users[0])
        #expect(try await topics.find(seenBy: users[2])?.ownerID == users[1])
        #expect(try await topics.addsAtOnce(users[2], by: users[1]) == false)
        _ = try await topics.remove(users[2], by: users[1])
        #expect(try await topics.bring(users[2], by: users[1]) == .done(changed: true))
        #expect(try await topics.addsAtOnce(users[2], by: users[1]), "this owner has invited them now")
    }

    @Test(.storage) func `a contact adds at once, and a block comes before both consents`() async throws {
        let (topics, users) = try await TestTopics.joined()
        try await topics.list(users[0], on: .contacts, of: users[2])
        #expect(try await topics.addsAtOnce(users[2], by: users[0]))
        for guest in users[1...2] {
            try await topics.list(users[0], on: .blocks, of: guest)
            #expect(try await topics.addsAtOnce(guest, by: users[0]) == false)
            try await PeopleListRepository(.blocks, topics.client).remove(users[0], for: guest)
            #expect(try await topics.addsAtOnce(guest, by: users[0]))
        }
        try await PeopleListRepository(.contacts, topics.client).remove(users[0], for: users[2])
        #expect(try await topics.addsAtOnce(users[2], by: users[0]) == false)
        try await topics.list(users[2], on: .contacts, of: users[0])
        #expect(try await topics.addsAtOnce(users[2], by: users[0]) == false, "the owner's contacts are not the user's consent")
    }

    @Test(.storage) func `additions and invitations have one quota`() async throws {
        let (topics, users) = try await TestTopics.joined()
        let quota = TopicInvitationQuota(madePerDay: 3)
        for (index, guest) in [users[1], users[2], users[1]].enumerated() {
            let name = try #require(TopicName("event:\(index)"))
            _ = try await topics.add(users[0], to: name, by: users[0])
            let change = try await topics.add(guest, to: name, by: users[0], quota: quota)
            // The invitation to the party is the first of the day.
            guard index == 2 else {
                #expect(change != .forbidden)
                #expect(try await topics.add(guest, to: name, by: users[0], quota: quota) != change, "once more costs nothing")
                continue
            }
            guard case .quotaReached = change else {
                Issue.record("more users are added than the owner may add: \(change)")
                return
            }
        }
        #expect(try await topics.client.query("SELECT FROM topic_invitation_log").count == 3)
    }
}

/// What a decision is made by stays as it is until the decision has taken effect.
struct TopicAdditionRaceTests {
    /// What ends a consent while it is being used.
    enum End: CaseIterable { case leaving, contactTakenBack, block, erasedContact, ownerLeaves }

    private func prepare(_ end: End) async throws -> (topics: TestTopics, owner: UUID, guest: UUID) {
        let (topics, users) = try await TestTopics.owned()
        let (owner, guest) = (users[0], users[1])
        switch end {
        case .leaving, .block, .ownerLeaves: _ = try await topics.bring(guest, by: owner)
        case .contactTakenBack, .erasedContact: try await topics.list(owner, on: .contacts, of: guest)
        }
        _ = try await topics.add(owner, to: .chat, by: owner)
        return (topics, owner, guest)
    }

    private static func perform(_ end: End, _ transaction: PostgresTransaction, owner: UUID, guest: UUID) async throws {
        switch end {
        case .leaving: _ = try await TopicRepository(transaction).remove(guest, from: .party, by: guest)
        case .contactTakenBack: try await PeopleListRepository(.contacts, transaction).remove(owner, for: guest)
        case .block: _ = try await PeopleListRepository(.blocks, transaction).add(owner, for: guest)
        case .erasedContact:
            let table = try #require(AccountErasureRepository.tables.first { $0.name == "user_contacts" })
            _ = try await AccountErasureRepository(transaction).deleteSlice(of: table, userID: guest)
        case .ownerLeaves: _ = try await TopicRepository(transaction).remove(owner, from: .party, by: owner)
        }
    }

    @Test(.storage, arguments: End.allCases) func `a consent ends after the addition that has read it`(end: End) async throws {
        let (topics, owner, guest) = try await prepare(end)
        let client = topics.client
        let ending = try await client.withTransaction { transaction in
            #expect(try await TopicRepository(transaction).add(guest, to: .chat, by: owner) == .done(changed: true))
            let ending = Task { try await client.withTransaction { try await Self.perform(end, $0, owner: owner, guest: guest) } }
            try await client.untilOneWaits()
            return ending
        }
        try await ending.value
        #expect(try await topics.addsAtOnce(guest, by: owner) == false)
    }

    @Test(.storage, arguments: End.allCases) func `an addition waits for the end of a consent, and is an invitation then`(end: End)
        async throws
    {
        let (topics, owner, guest) = try await prepare(end)
        let client = topics.client
        let adding = try await client.withTransaction { transaction in
            try await Self.perform(end, transaction, owner: owner, guest: guest)
            let adding = Task { try await topics.add(guest, to: .chat, by: owner) }
            try await client.untilOneWaits()
            return adding
        }
        guard case .invited(.some) = try await adding.value else {
            Issue.record("added without a consent")
            return
        }
    }

    @Test(.storage) func `additions to two topics of an owner, each by the consent of the other, do not wait for each other`() async throws
    {
        let (topics, users) = try await TestTopics.joined()
        _ = try await topics.add(users[0], to: .chat, by: users[0])
        #expect(try await topics.bring(users[2], to: .chat, by: users[0]) == .done(changed: true))
        for _ in 0..<20 {
            let changes = try await race(2) {
                $0 == 0 ? try await topics.add(users[1], to: .chat, by: users[0]) : try await topics.add(users[2], by: users[0])
            }
            #expect(changes == [.done(changed: true), .done(changed: true)])
            _ = try await topics.remove(users[1], from: .chat, by: users[0])
            _ = try await topics.remove(users[2], by: users[0])
        }
    }
}

extension TestTopics {
    /// Whether an owner can add a user to a new topic without an invitation.
    fileprivate func addsAtOnce(_ user: UUID, by owner: UUID) async throws -> Bool {
        let name = try #require(TopicName("event:\(UUID().wireString)"))
        #expect(try await add(owner, to: name, by: owner) == .done(changed: true))
        let change = try await add(user, to: name, by: owner)
        try await client.execute("DELETE FROM topics WHERE name = \(name.text)")
        if change == .done(changed: true) { return true }
        guard case .invited(.some) = change else { throw DeadlineExceeded(description: "neither added nor invited: \(change)") }
        return false
    }

    fileprivate func list(_ person: UUID, on list: PeopleList, of user: UUID) async throws {
        #expect(try await client.withTransaction { try await PeopleListRepository(list, $0).add(person, for: user) })
    }
}

extension PostgresClient {
    /// Waits until a transaction of the database waits for another one.
    fileprivate func untilOneWaits() async throws {
        try await eventually("a transaction waits") {
            try await !self.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").isEmpty
        }
    }
}
