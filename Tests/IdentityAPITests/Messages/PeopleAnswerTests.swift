import Foundation
import HTTPClient
import Push
import Testing
import WireFormat

@testable import IdentityAPI

/// Tests the exact bytes of responses; times are replaced by T.
@Suite struct PeopleAnswerTests {
    private static let meta = #""meta":{"requestId":"r-1","timestamp":"T"}}"#

    private func text(_ method: String, _ path: String, _ json: String, _ chat: Chat) async throws -> String {
        let headers = [chat.ada.bearer, ("Content-Type", "application/json"), ("X-Request-ID", "r-1")]
        let answer = try await chat.api.send(method, path, headers: headers, body: Array(json.utf8))
        return "\(answer.status) " + answer.text.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "T")
    }

    @Test(.api) func `the responses about devices, names and presence are exact`() async throws {
        let chat = try await Chat.make(api)
        let device = try await text(
            "POST", Device.path, #"{"fid":"cAbCdEfGhIjKlMnOpQrSt1","platform":"android"}"#, chat)
        let id = try #require(try await chat.api.installs().first).id.wireString
        #expect(
            device == #"200 {"success":true,"data":{"installation_id":"\#(id)","kind":"fid","platform":"android"},"# + Self.meta)
        let name = try await text("PUT", "/v1/users/me", #"{"display_name":"Ada"}"#, chat)
        let user = chat.ada.userID.wireString
        #expect(name == #"200 {"success":true,"data":{"user_id":"\#(user)","display_name":"Ada"},"# + Self.meta)
        let shown = try await text("PUT", "/v1/users/me/presence", #"{"conversation_id":"c-1"}"#, chat)
        #expect(
            shown == #"200 {"success":true,"data":{"conversation_id":"c-1","lease_seconds":45,"expires_at":"T"},"# + Self.meta)
        let hidden = try await text("PUT", "/v1/users/me/presence", #"{"conversation_id":null}"#, chat)
        #expect(hidden == #"200 {"success":true,"data":{"conversation_id":null,"lease_seconds":0},"# + Self.meta)
        #expect(try await text("DELETE", Device.path, "", chat) == "204 ")
    }

    @Test(.api) func `the responses about messages, read marks and receipts are exact`() async throws {
        let chat = try await Chat.make(api)
        let said = try await text("POST", Chat.path + "/messages", #"{"message_id":"m-1","text":"hi"}"#, chat)
        #expect(
            said == #"202 {"success":true,"data":{"message_id":"m-1","conversation_id":"c-1","created_at":"T"},"# + Self.meta)
        try await chat.say("ho", "m-2", by: chat.ben)
        let read = try await text("POST", Chat.path + "/read", #"{"message_id":"m-1"}"#, chat)
        #expect(read == #"200 {"success":true,"data":{"topic":"conversation:c-1","unread":1,"badge":1},"# + Self.meta)
        let told = try await text("POST", "/v1/notifications/receipts", #"[{"message_id":"m-2","event":"opened"}]"#, chat)
        #expect(told == #"200 {"success":true,"data":{"received":1,"counted":0},"# + Self.meta)
    }

    @Test(.api) func `the refusal of a sign-in without a device is exact`() async throws {
        let chat = try await Chat.make(api)
        let refused = try await text("PUT", "/v1/users/me/presence", #"{"conversation_id":"c-1"}"#, chat)
        #expect(
            refused == #"409 {"success":false,"code":1106,"message":"This sign-in has no device yet; register its push token first","#
                + #""error":{"code":"device_not_registered","retryable":false,"retry_after":0},"data":null,"# + Self.meta)
    }
}
