import FCMEmulator
import Foundation
import HeliographCrypto
import JSON
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@Suite struct ChatTests {
    @Test func `a sealed chat text and sender name are opened for the push`() async throws {
        try await NotifierFixture.with { fixture in
            let token = fixture.emulator.mintToken()
            let id = UUIDv7.generate()
            let content = Self.message(
                senderName: try fixture.seal("Zoë", .chatSenderName, id), text: try fixture.seal("See you at 8 👋", .chatPreview, id))
            let addressed = try await fixture.address([token], content: content, id: id)
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
            let addressed = try await fixture.address([token], content: Self.message())
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
            let check = PossessionCheckPush(handOverID: UUID(), nonce: try fixture.seal("the nonce", .possessionNonce, id))
            let addressed = try await fixture.address([token], content: check.content, id: id)
            #expect(try await fixture.settled(addressed).first?.state == .accepted)
            let message = try #require(await fixture.emulator.messages(to: token).first).message
            #expect(message["notification"] == nil && message["android"]?["notification"] == nil)
            #expect(message["data"]?["nonce"]?.string == "the nonce")
            #expect(message["data"]?["handover_id"]?.string == check.handOverID.wireString)
            #expect(message["apns"]?["headers"]?["apns-push-type"]?.string == "background")
        }
    }

    @Test func `a text that was sealed for another notification is not shown`() async throws {
        try await NotifierFixture.with { fixture in
            let text = try fixture.seal("for another notification", .chatPreview, UUIDv7.generate())
            let addressed = try await fixture.address([fixture.emulator.mintToken()], content: Self.message(text: text))
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
            let message = Self.message(topicID: topicID)
            let deliveries = try await fixture.settled(fixture.address([shown, other], of: user, content: message))
            #expect(Set(deliveries.map(\.code)) == ["presence", nil])
            #expect(await fixture.emulator.messages(to: shown).isEmpty)
            #expect(await fixture.emulator.messages(to: other).count == 1)

            // The presence lease ends, and the next message is pushed.
            try await fixture.postgres.execute("UPDATE push_presence SET lease_until = now()")
            let later = try await fixture.settled(fixture.address([shown], of: user, content: message))
            #expect(later.first?.state == .accepted)
        }
    }

    /// A message of `conversation:c`.
    private static func message(topicID: UUID = UUID(), senderName: SealedText? = nil, text: SealedText? = nil) -> PushContent {
        guard case .chatMessage(var message) = PushContent.sample(.chatMessage, topic: "conversation:c", topicID: topicID) else {
            preconditionFailure("the sample is of another kind")
        }
        (message.senderName, message.text) = (senderName, text)
        return message.content
    }
}

extension NotifierFixture {
    fileprivate func seal(_ text: String, _ use: SealedText.Use, _ notificationID: UUID) throws -> SealedText {
        try SealedText(sealing: text, use, of: notificationID, with: sealer)
    }
}
