import FCMEmulator
import Foundation
import HeliographCrypto
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@Suite struct AppContentTests {
    @Test func `an app's notification is opened and sent, with its id in the data`() async throws {
        try await NotifierFixture.with { fixture in
            let (token, id, user) = (fixture.emulator.mintToken(), UUIDv7.generate(), try await fixture.user())
            let content = AppContent(kind: "news", title: "Hello", body: "World", data: ["a": "b"], sound: "default")
            let addressed = try await fixture.address(
                [token], of: user, content: try fixture.custom(content, id), id: id)
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first).message
            #expect(message["notification"]?["title"]?.string == "Hello" && message["notification"]?["body"]?.string == "World")
            #expect(message["data"]?.strings == ["a": "b", "kind": "news", "type": "news", "notification_id": id.wireString])
            #expect(message["apns"]?["payload"]?["aps"]?["badge"]?.integer == 0, "the true number")
        }
    }

    @Test func `a push of data only shows nothing and has no badge`() async throws {
        try await NotifierFixture.with { fixture in
            let (token, id, user) = (fixture.emulator.mintToken(), UUIDv7.generate(), try await fixture.user())
            let addressed = try await fixture.address(
                [token], of: user, content: try fixture.custom(AppContent(kind: "sync", data: ["a": "b"]), id), id: id)
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first).message
            #expect(message["notification"] == nil)
            #expect(message["apns"]?["payload"]?["aps"]?.members?.map(\.name) == ["content-available"])
        }
    }

    @Test func `content that was sealed for another notification is not sent`() async throws {
        try await NotifierFixture.with { fixture in
            let content = try fixture.custom(AppContent(kind: "news", title: "Hello"), UUIDv7.generate())
            let addressed = try await fixture.address([fixture.emulator.mintToken()], content: content)
            #expect(try await fixture.settled(addressed).first?.code == "sealed_value")
            #expect(fixture.emulator.statistics.sends == 0)
        }
    }

    @Test func `a push that waited is not sent to a user who has blocked its sender meanwhile`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let (ben, ada) = (try await fixture.user(), UUID())
            let addressed = try await fixture.address(
                [fixture.emulator.mintToken()], of: ben, content: .sample(.newPhotos, senderID: ada))
            try await fixture.postgres.execute(
                """
                WITH topic AS (INSERT INTO topics (name, owner_id) VALUES ('event:1', \(ben)) RETURNING id), joined AS (
                    INSERT INTO topic_members (topic_id, user_id) SELECT id, \(ben) FROM topic)
                UPDATE notifications SET recipient_type = 'topic', recipient_id = 'event:1'
                """)
            try await fixture.postgres.execute("UPDATE delivery_pages SET created_at = created_at - interval '1 minute'")
            try await fixture.postgres.execute("INSERT INTO user_blocks (user_id, blocked_id) VALUES (\(ben), \(ada))")
            try await fixture.withNotifier {
                let deliveries = try await fixture.settled(addressed)
                #expect(deliveries.first?.code == "blocked")
            }
            #expect(fixture.emulator.statistics.sends == 0)
        }
    }
}

extension NotifierFixture {
    /// The content of a push, sealed for a notification.
    fileprivate func custom(_ content: AppContent, _ notificationID: UUID) throws -> PushContent {
        let json = String(decoding: try JSONEncoder().encode(content), as: UTF8.self)
        let sealed = try SealedText(sealing: json, .appContent, of: notificationID, with: sealer)
        return CustomPush(app: sealed, topicID: nil, hasPicture: false).content
    }
}
