import Accounts
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import TokenRegistry

struct PushEraserTests {
    @Test func `erasure deletes a user's installations, tokens, audit and contents, and withdraws pending pushes`() async throws {
        try await Registry.run { registry in
            let ada = try await registry.makeUser(tokens: "a:1")
            let ben = try await registry.makeUser(tokens: "b:1")
            let session = try await registry.makeSession(token: "s:1")
            try await registry.client.execute("UPDATE sessions SET user_id = \(ada) WHERE id = \(session)")
            let install = try #require(try await registry.install("a:1"))
            let mine = [
                NotificationRequested.make(.user(ada), kind: .jobCompleted), .make(.session(session)),
                .make(.installation(install.id), kind: .jobCompleted),
            ]
            // A message of hers that has not been pushed to Ben yet.
            try await registry.makeTopic("conversation:7", owner: ben, members: [])
            let topicID = try await registry.topicID("conversation:7")
            let message = NotificationRequested(
                dedupeKey: "chat:1", content: .sample(.chatMessage, topic: "conversation:7", topicID: topicID, senderID: ada),
                recipient: .topic("conversation:7"), lane: .urgent, expiresAt: Date(timeIntervalSinceNow: 3600))
            let other = NotificationRequested.make(.user(ben), kind: .jobCompleted)
            // A push to Ben that names her account.
            let alert = NotificationRequested(
                dedupeKey: "alert:1", content: AccountAlertPush(.newSignIn, of: ada).content, recipient: .user(ben), lane: .urgent,
                expiresAt: Date(timeIntervalSinceNow: 3600))
            for request in mine + [message, alert, other] { try await registry.request(request) }
            for _ in 0..<2 { try await registry.erase(ada) }

            #expect(try await PushInstallRepository(registry.client).find(userIDs: [ada, ben]).map(\.userID) == [ben])
            #expect(try await SessionRepository(registry.client).find(id: session)?.installID == nil)
            #expect(try await registry.notification(mine[0]) == nil, "what was addressed to her is deleted")
            for request in mine.dropFirst() + [message, alert] {
                let record = try #require(try await registry.notification(request))
                #expect(record.state == .settled && record.content == nil, "\(record.recipient.type)")
                let deliveries = try await DeliveryRepository(registry.client).find(notificationID: record.id)
                #expect(deliveries.map(\.state) == [.skipped] && deliveries.map(\.code) == ["user_erased"])
            }
            #expect(try await registry.notification(other)?.state == .addressed)
            let audit = try await registry.client.query(
                "SELECT id FROM push_install_audit WHERE old_user_id = \(ada) OR new_user_id = \(ada)")
            #expect(audit.isEmpty)
        }
    }
}
