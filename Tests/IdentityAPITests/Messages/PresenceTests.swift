import Foundation
import HTTPClient
import JSON
import PostgresClient
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct PresenceTests {
    private static let path = "/v1/users/me/presence"

    @Test(.api) func `a device sets its conversation, renews it, and ends it`() async throws {
        let chat = try await Chat.make(api)
        try await chat.api.bindInstallation(chat.ada, to: "phone")
        let before = Date()
        for id in ["c-1", "conversation:c-1"] {
            let answer = try await chat.api.json("PUT", Self.path, #"{"conversation_id":"\#(id)"}"#, by: chat.ada)
            #expect(answer.status == 200 && answer.json.text("data.conversation_id") == "c-1")
            #expect(answer.json.number("data.lease_seconds") == 45)
        }
        let rows = try await chat.api.postgres.query(
            "SELECT user_id, lease_until > \(before) + interval '44 s' AS lasts FROM push_presence")
        #expect(rows.count == 1)
        #expect(try rows[0].decode("user_id", as: UUID.self) == chat.ada.userID)
        #expect(try rows[0].decode("lasts", as: Bool.self))
        for _ in 0..<2 {
            let ended = try await chat.api.json("PUT", Self.path, #"{"conversation_id":null}"#, by: chat.ada)
            #expect(ended.status == 200 && ended.json.value("data.conversation_id") == .null)
        }
        #expect(try await chat.api.count("push_presence") == 0)
    }

    @Test(.api) func `a sign-in without a device is refused`() async throws {
        let chat = try await Chat.make(api)
        for id in ["\"c-1\"", "null"] {
            let answer = try await chat.api.json("PUT", Self.path, #"{"conversation_id":\#(id)}"#, by: chat.ada)
            #expect(answer.refusal == "409 device_not_registered")
        }
    }

    private static let badConversations: [(body: String, refusal: String)] = [
        ("{}", "400 missing_field conversation_id"), (#"{"conversation_id":7}"#, "400 invalid_request conversation_id"),
        (#"{"conversation_id":"event:1"}"#, "400 invalid_request conversation_id"),
        (#"{"conversation_id":"none"}"#, "404 topic_not_found"), ("nonsense", "400 invalid_request"),
    ]

    @Test(.api) func `an invalid conversation is refused`() async throws {
        let chat = try await Chat.make(api)
        for (body, refusal) in Self.badConversations {
            try await chat.api.bindInstallation(chat.ada, to: "phone")
            #expect(try await chat.api.json("PUT", Self.path, body, by: chat.ada).refusal == refusal, "\(body)")
        }
    }

    @Test(.api) func `non-members cannot set a conversation`() async throws {
        let chat = try await Chat.make(api)
        try await chat.api.bindInstallation(chat.eve, to: "phone")
        #expect(try await chat.api.json("PUT", Self.path, #"{"conversation_id":"c-1"}"#, by: chat.eve).refusal == "404 topic_not_found")
        #expect(try await chat.api.json("PUT", Self.path, #"{"conversation_id":"c-1"}"#).refusal == "401 unauthorized")
        #expect(try await chat.api.count("push_presence") == 0)
    }
}
