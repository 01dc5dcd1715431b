import Accounts
import EventBus
import FCMEmulator
import Foundation
import HeliographCrypto
import PostgresClient
import Push
import TestSupport
import Testing
import Topics
import WireFormat

/// Pushes that deployed services did not send or show, explained by the deployed `heliographctl push why`.
@Suite struct ExplanationTests {
    @Test func `five pushes that were not shown have five reasons`() async throws {
        try await PushSystem.with(running: ["token-registry"]) { system in
            let (ada, ben) = (try await system.makeUser(), try await system.makeUser())
            let token = system.emulator.mintToken()
            let phone = try await system.signIn(token, ben)
            try await system.makeTopic("conversation:pair", [ada, ben])
            try await system.makeTopic("event:party", [ada, ben])
            try await system.makeTopic("event:left", [ada, ben])

            // A block is a reason before anything is addressed.
            try await system.postgres.withTransaction { _ = try await PeopleListRepository(.blocks, $0).add(ada, for: ben) }
            let blocked = try await system.message("m-1", in: "conversation:pair", from: ada)
            try await system.settled(blocked)
            try await system.postgres.withTransaction { try await PeopleListRepository(.blocks, $0).remove(ada, for: ben) }

            // The others are addressed, and what stops them happens before a notifier runs.
            let superseded = try await system.fanOut(to: "event:party")
            let left = try await system.fanOut(to: "event:left")
            let present = try await system.message("m-2", in: "conversation:pair", from: ada)
            for id in [superseded, left, present] { try await system.addressed(id) }
            try await system.postgres.execute("UPDATE delivery_pages SET created_at = created_at - interval '1 minute'")
            try await system.addressed(try await system.fanOut(to: "event:party"))
            let key = try system.registration(token).installationKey
            let lease = try await PresenceRepository(system.postgres).show(
                try #require(TopicName("conversation:pair")), on: key, userID: ben)
            #expect(lease != nil)
            try await system.postgres.execute(
                "DELETE FROM topic_members m USING topics t WHERE t.id = m.topic_id AND t.name = 'event:left' AND m.user_id = \(ben)")
            try system.services.start("notifier")
            for id in [superseded, left, present] { try await system.settled(id) }
            system.emulator.deleteToken(token)
            let dead = try await system.push(to: .user(ben))
            #expect(try await system.settled(dead) == ["dead": 1])

            let expected: [(id: String, words: String)] = [
                ("m-1", "all members with a reachable phone block its sender. (sender_blocked)"),
                ("m-2", "the phone had the conversation on its screen. (presence)"),
                (dead.wireString, "FCM calls the token of the phone dead. (UNREGISTERED)"),
                (superseded.wireString, "a newer push to the same topic has replaced it. (superseded)"),
                (left.wireString, "the user had left the topic. (not_a_member)"),
            ]
            for (id, words) in expected {
                let answer = try await system.why(id)
                #expect(answer.contains(words), "\(answer)")
                // A remedy follows each sentence.
                #expect(answer.split(separator: "\n").contains { $0.hasPrefix("    ") }, "\(answer)")
            }
            let all = try await system.why(ben.wireString)
            for code in ["sender_blocked", "presence", "UNREGISTERED", "superseded", "not_a_member"] {
                #expect(all.contains("(\(code))"), "\(code): \(all)")
            }
            #expect(phone.userID == ben)
        }
    }
}

extension PushSystem {
    fileprivate func makeTopic(_ name: String, _ members: [UUID]) async throws {
        let rows = try await postgres.query(
            "INSERT INTO topics (name, owner_id, member_count) VALUES (\(name), \(members[0]), \(members.count)) RETURNING id")
        let id: UUID = try rows.required().decode("id")
        try await postgres.execute(
            """
            INSERT INTO topic_members (topic_id, user_id, joined_at)
            SELECT \(id), id, now() - interval '1 day' FROM unnest(\(members)) AS m (id)
            """)
    }

    /// Posts a message as identity-api does, and returns its notification.
    fileprivate func message(_ id: String, in conversation: String, from sender: UUID) async throws -> UUID {
        let name = try #require(TopicName(conversation))
        return try await postgres.withTransaction { transaction in
            let notificationID = UUIDv7.generate()
            let new = NewConversationMessage(
                conversation: name, messageID: id, senderID: sender, notificationID: notificationID,
                fingerprints: [SecureRandom.bytes(32)])
            guard case .posted(let posted, _) = try await ConversationRepository(transaction).post(new) else {
                throw DeadlineExceeded(description: "the message was not posted")
            }
            let push = ChatMessagePush(
                conversation: name, topicID: posted.topicID, messageID: id, senderID: sender, senderName: nil, text: nil)
            let request = push.request(notificationID, postedAt: posted.createdAt, memberCount: 2)
            try await OutboxRepository(transaction).publish(request, requestID: "req-\(id)")
            return notificationID
        }
    }

    /// Waits until the deliveries of a notification exist.
    fileprivate func addressed(_ id: UUID) async throws {
        try await eventually("notification \(id) is addressed") {
            let rows = try await postgres.query("SELECT state FROM notifications WHERE id = \(id)")
            return try rows.first?.decode("state", as: String.self) == "addressed"
        }
    }

    /// The answer of the deployed command.
    fileprivate func why(_ id: String) async throws -> String {
        try await CommandLineTool.run(
            [try PackageRoot.executable("heliographctl"), "push", "why", id], environment: ["DATABASE_URL": services.database.url])
    }
}
