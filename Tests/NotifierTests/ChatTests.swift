import FCMEmulator
import Foundation
import HeliographCrypto
import JSON
import PostgresClient
import ServiceDefaults
import Storage
import TestSupport
import Testing
import WireFormat

@Suite struct ChatTests {
    @Test func `a sealed chat text and sender name are opened for the push`() async throws {
        try await NotifierFixture.with { fixture in
            let token = fixture.emulator.mintToken()
            let id = UUIDv7.generate()
            let text = try fixture.seal("See you at 8 👋", SealingContext.chatPreview(notificationID: id))
            let name = try fixture.seal("Zoë", SealingContext.chatSenderName(notificationID: id))
            let addressed = try await fixture.address(
                [token], kind: .chatMessage, id: id,
                parameters: Self.parameters.merging(["text_sealed": text, "sender_name_sealed": name]) { $1 })
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first).message
            #expect(message["notification"]?["title"]?.string == "Zoë")
            #expect(message["notification"]?["body"]?.string == "See you at 8 👋")
            #expect(message["data"]?["message"]?.string == "See you at 8 👋")
            #expect(message["apns"]?["headers"]?["apns-collapse-id"]?.string?.hasPrefix("chat:m-1:") == true)
        }
    }

    @Test func `without a text and a name the push says that there is a message`() async throws {
        try await NotifierFixture.with { fixture in
            let token = fixture.emulator.mintToken()
            let addressed = try await fixture.address([token], kind: .chatMessage, parameters: Self.parameters)
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first).message
            #expect(message["notification"]?["title"]?.string == "New message")
            #expect(message["data"]?["message"]?.string == "New message")
        }
    }

    @Test func `the sealed nonce of a possession check is opened for the app, in a push that shows nothing`() async throws {
        try await NotifierFixture.with { fixture in
            let token = fixture.emulator.mintToken()
            let id = UUIDv7.generate()
            let nonce = try fixture.seal("the nonce", SealingContext.possessionNonce(notificationID: id))
            let addressed = try await fixture.address(
                [token], kind: .possessionCheck, id: id, parameters: ["handover_id": "h-1", "nonce_sealed": nonce])
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first).message
            #expect(message["notification"] == nil && message["android"]?["notification"] == nil)
            #expect(message["data"]?["nonce"]?.string == "the nonce" && message["data"]?["handover_id"]?.string == "h-1")
            #expect(message["apns"]?["headers"]?["apns-push-type"]?.string == "background")
        }
    }

    @Test func `a text that was sealed for another notification is not shown`() async throws {
        try await NotifierFixture.with { fixture in
            let text = try fixture.seal("for somebody else", SealingContext.chatPreview(notificationID: UUIDv7.generate()))
            let addressed = try await fixture.address(
                [fixture.emulator.mintToken()], kind: .chatMessage,
                parameters: Self.parameters.merging(["text_sealed": text]) { $1 })
            #expect(try await fixture.settled(addressed).first?.code == "sealed_value")
            #expect(fixture.emulator.statistics.sends == 0)
        }
    }

    @Test func `the device that shows the conversation is left out, and no other`() async throws {
        try await NotifierFixture.with { fixture in
            let user = try await fixture.user()
            let topic = try await fixture.postgres.query(
                "INSERT INTO topics (name, owner_id) VALUES ('conversation:c', \(user)) RETURNING id"
            ).first?.decode("id", as: UUID.self)
            let topicID = try #require(topic)
            let (shown, other) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
            let key = try #require(PushTarget(shown)).installationKey
            try await fixture.postgres.execute(
                """
                INSERT INTO push_presence (installation_key, user_id, topic_id, lease_until)
                VALUES (\(key), \(user), \(topicID), now() + interval '45 seconds')
                """)
            var parameters = Self.parameters
            parameters[NotificationParameter.topicID] = topicID.wireString
            let deliveries = try await fixture.settled(
                fixture.address([shown, other], of: user, kind: .chatMessage, parameters: parameters))
            #expect(Set(deliveries.map(\.code)) == ["presence", nil])
            #expect(await fixture.emulator.messages(to: shown).isEmpty)
            #expect(await fixture.emulator.messages(to: other).count == 1)

            // The presence lease ends, and the next message is pushed.
            try await fixture.postgres.execute("UPDATE push_presence SET lease_until = now()")
            let later = try await fixture.settled(
                fixture.address([shown], of: user, kind: .chatMessage, parameters: parameters))
            #expect(later.first?.state == .accepted)
        }
    }

    static let parameters = ["conversation_id": "c", "message_id": "m-1", "sender_id": "u-1", "sensitive": "false"]
}

extension NotifierFixture {
    func seal(_ text: String, _ context: [UInt8]) throws -> String {
        Base64URL.encode(try sealer.seal(Array(text.utf8), context: context))
    }
}
