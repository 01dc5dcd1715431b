import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import Topics
import WireFormat

@testable import IdentityAPI

@Suite struct MessageTests {
    @Test(.api) func `a message is accepted, and its push to the other members is sealed`() async throws {
        let chat = try await Chat.make(api)
        #expect(try await chat.api.json("PUT", "/v1/users/me", #"{"display_name":" Ada Ü. "}"#, by: chat.ada).status == 200)
        let answer = try await chat.post(#"{"message_id":"m-1","text":"Dinner at eight?"}"#, by: chat.ada)
        #expect(answer.status == 202 && answer.header("Idempotent-Replayed") == nil)
        #expect(answer.json.text("data.message_id") == "m-1" && answer.json.text("data.conversation_id") == "c-1")
        let push = try #require(try await chat.pushes().first)
        let topic = try #require(try await TopicRepository(chat.api.postgres).find(.c1, seenBy: chat.ben.userID))
        #expect(push.dedupeKey == "chat:\(topic.id.wireString):m-1")
        #expect(push.kind == .chatMessage)
        #expect(push.lane == .urgent)
        #expect(push.recipient == .topic("conversation:c-1"))
        let (message, sealer) = (try push.chatMessage(), try chat.api.context.sealer(.tokens))
        #expect(message.conversation == .c1 && message.topicID == topic.id && message.messageID == "m-1")
        #expect(message.senderID == chat.ada.userID && push.exceptUserID == chat.ada.userID)
        #expect(try message.text?.opened(of: push.notificationID, with: sealer) == "Dinner at eight?")
        #expect(try message.senderName?.opened(of: push.notificationID, with: sealer) == "Ada Ü.")
        #expect(abs(push.expiresAt.timeIntervalSinceNow - 3_600) < 120)
    }

    @Test(.api) func `a repetition gets the same answer and no push, and another text is refused`() async throws {
        let chat = try await Chat.make(api)
        let message = #"{"message_id":"m-1","text":"yes"}"#
        let first = try await chat.post(message, by: chat.ada)
        let again = try await chat.post(message, by: chat.ada)
        #expect(again.status == 202 && again.header("Idempotent-Replayed") == "true")
        #expect(again.json.text("data.created_at") == first.json.text("data.created_at"))
        for other in [#"{"message_id":"m-1","text":"no"}"#, #"{"message_id":"m-1","text":"yes","sensitive":true}"#] {
            #expect(try await chat.post(other, by: chat.ada).refusal == "422 idempotency_key_reused message_id")
        }
        #expect(try await chat.post(message, by: chat.ben).refusal == "422 idempotency_key_reused message_id")
        #expect(try await chat.pushes().count == 1)
    }

    @Test(.api) func `a message that is posted many times at once gets one push`() async throws {
        let chat = try await Chat.make(api)
        let answers = try await race(8) { _ in try await chat.post(#"{"message_id":"m-1","text":"yes"}"#, by: chat.ada) }
        #expect(answers.allSatisfy { $0.status == 202 })
        #expect(answers.count { $0.header("Idempotent-Replayed") == nil } == 1)
        #expect(Set(answers.compactMap { $0.json.text("data.created_at") }).count == 1)
        #expect(try await chat.pushes().count == 1)
    }

    @Test(.api) func `the push of a sensitive message has no text, even if the app sends one`() async throws {
        let chat = try await Chat.make(api)
        for body in [#"{"message_id":"m-1","sensitive":true,"text":"secret"}"#, #"{"message_id":"m-2","sensitive":true}"#] {
            #expect(try await chat.post(body, by: chat.ada).status == 202)
        }
        for push in try await chat.pushes() {
            #expect(try push.chatMessage().text == nil)
            #expect(try push.chatMessage().senderName == nil, "the sender has given no name")
        }
    }

    @Test(.api) func `strangers and former members send and read nothing`() async throws {
        let chat = try await Chat.make(api)
        let message = #"{"message_id":"m-1","text":"hi"}"#
        let refused = try await chat.post(message, by: chat.eve)
        #expect(refused.refusal == "404 topic_not_found")
        #expect(try await chat.post(message, by: chat.eve, to: "/v1/topics/conversation:none").refusal == "404 topic_not_found")
        #expect(try await chat.read(by: chat.eve).refusal == "404 topic_not_found")
        #expect(try await chat.api.send("DELETE", Chat.path + "/members/me", headers: [chat.ben.bearer]).status == 204)
        #expect(try await chat.post(message, by: chat.ben).refusal == "404 topic_not_found")
        #expect(try await chat.pushes().isEmpty)
        #expect(try await chat.api.send("POST", Chat.path + "/messages").refusal == "401 unauthorized")
    }

    @Test(.api) func `a conversation of one member gets no push, and a large one gets pushes in the normal lane`() async throws {
        let chat = try await Chat.make(api)
        let alone = "/v1/topics/conversation:alone"
        #expect(try await chat.api.send("PUT", alone + "/members/me", headers: [chat.ada.bearer]).status == 200)
        #expect(try await chat.post(#"{"message_id":"m-1","text":"hi"}"#, by: chat.ada, to: alone).status == 202)
        #expect(try await chat.pushes().isEmpty)
        try await chat.api.postgres.execute("UPDATE topics SET member_count = 51 WHERE name = 'conversation:c-1'")
        try await chat.say("hello all", "m-1", by: chat.ada)
        #expect(try await chat.pushes().map(\.lane) == [.normal])
    }

    @Test(.api) func `reading clears unread messages, up to a message or all of them`() async throws {
        let chat = try await Chat.make(api)
        for number in 1...3 { try await chat.say("text \(number)", "m-\(number)", by: chat.ada) }
        let some = try await chat.read(#"{"message_id":"m-2"}"#, by: chat.ben)
        #expect(some.status == 200)
        #expect(some.json.number("data.unread") == 1)
        #expect(some.json.number("data.badge") == 1)
        #expect(try await chat.read(#"{"message_id":"m-9"}"#, by: chat.ben).refusal == "400 invalid_request message_id")
        let all = try await chat.read(by: chat.ben)
        #expect(all.json.number("data.unread") == 0 && all.json.number("data.badge") == 0)
    }

    private static let badMessages: [(body: String, refusal: String)] = [
        ("", "415 unsupported_media_type"), ("{", "400 invalid_request"), ("[]", "400 invalid_request"),
        (#"{"text":"hi"}"#, "400 missing_field message_id"), (#"{"message_id":"m-1"}"#, "400 missing_field text"),
        (#"{"message_id":"m-1","text":""}"#, "400 missing_field text"),
        (#"{"message_id":"undefined","text":"hi"}"#, "400 invalid_request message_id"),
        (#"{"message_id":7,"text":"hi"}"#, "400 invalid_request message_id"),
        (#"{"message_id":"m 1","text":"hi"}"#, "400 invalid_request message_id"),
        (#"{"message_id":"\#(String(repeating: "m", count: 49))","text":"hi"}"#, "400 invalid_request message_id"),
        (#"{"message_id":"m-1","text":"a\u0000b"}"#, "400 invalid_request text"),
        (#"{"message_id":"m-1","text":"hi","sensitive":"maybe"}"#, "400 invalid_request sensitive"),
        (#"{"message_id":"m-1","text":"hi","text":"ho"}"#, "400 invalid_request"),
        (#"{"message_id":"m-1","text":"\#(String(repeating: "ä", count: 8_193))"}"#, "400 invalid_request text"),
        (#"{"message_id":"m-1","text":"\#(String(repeating: "a", count: 120_000))"}"#, "413 payload_too_large"),
    ]

    @Test(.api) func `an invalid message is refused with the field's name`() async throws {
        let chat = try await Chat.make(api)
        for (body, refusal) in Self.badMessages {
            let type = body.isEmpty ? "text/plain" : "application/json"
            let headers = [chat.ada.bearer, (name: "Content-Type", value: type)]
            let answer = try await chat.api.send("POST", Chat.path + "/messages", headers: headers, body: Array(body.utf8))
            #expect(answer.refusal == refusal, "\(body.prefix(80))")
            #expect(try await chat.pushes().isEmpty, "\(body.prefix(80))")
        }
    }

    @Test(.api) func `events get no messages, and can be read`() async throws {
        let chat = try await Chat.make(api)
        let event = "/v1/topics/event:1"
        let made = try await chat.api.send("PUT", event + "/members/me", headers: [chat.ada.bearer])
        #expect(made.status == 200)
        #expect(try await chat.post(#"{"message_id":"m","text":"hi"}"#, by: chat.ada, to: event).refusal == "400 invalid_request topic")
        #expect(try await chat.read(by: chat.ada, of: event).json.number("data.unread") == 0)
    }

    @Test(.api { $0.limits.messages = Rate(perMinute: 1, burst: 1) })
    func `the messages of an account are limited`() async throws {
        let chat = try await Chat.make(api)
        try await chat.say("one", "m-1", by: chat.ada)
        let refused = try await chat.post(#"{"message_id":"m-2","text":"two"}"#, by: chat.ada)
        #expect(refused.refusal == "429 rate_limited" && refused.header("Retry-After") != nil)
        try await chat.say("another account's", "m-3", by: chat.ben)
    }

    private static let displayNames: [(body: String, name: String?)] = [
        (#"{"display_name":"Ada"}"#, "Ada"), (#"{"display_name":" Zoë 👩‍👩‍👧 "}"#, "Zoë 👩‍👩‍👧"), (#"{"display_name":null}"#, nil as String?),
    ]

    @Test(.api) func `a display name is stored sealed and can be removed`() async throws {
        let chat = try await Chat.make(api)
        for (body, name) in Self.displayNames {
            let answer = try await chat.api.json("PUT", "/v1/users/me", body, by: chat.ada)
            #expect(answer.status == 200, "\(body)")
            #expect(answer.json.text("data.display_name") == name, "\(body)")
            let user = try #require(try await UserRepository(chat.api.postgres).find(id: chat.ada.userID))
            #expect(try chat.api.keys.displayName(of: user) == name, "\(body)")
        }
    }

    private static let badNames: [(body: String, refusal: String)] = [
        (#"{}"#, "400 missing_field display_name"), (#"{"display_name":"a\u0007b"}"#, "400 invalid_request display_name"),
        (#"{"display_name":"a\nb"}"#, "400 invalid_request display_name"),
        (#"{"display_name":"a\u202Eb"}"#, "400 invalid_request display_name"),
        (#"{"display_name":"\#(String(repeating: "a", count: 51))"}"#, "400 invalid_request display_name"),
        (#"{"display_name":"e\#(String(repeating: "\u{301}", count: 300))"}"#, "400 invalid_request display_name"),
    ]

    @Test(.api) func `a display name that is unsafe to show is refused`() async throws {
        let chat = try await Chat.make(api)
        for (body, refusal) in Self.badNames {
            let refused = try await chat.api.json("PUT", "/v1/users/me", body, by: chat.ada)
            #expect(refused.refusal == refusal, "\(body.prefix(80))")
        }
    }
}

extension TopicName {
    static let c1 = TopicName("conversation:c-1")!
}
