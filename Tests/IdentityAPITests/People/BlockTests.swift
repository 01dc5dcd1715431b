import Foundation
import HTTPClient
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import Topics
import WireFormat

@testable import IdentityAPI

@Suite struct BlockTests {
    private static let path = "/v1/users/me/blocks"

    @Test(.api) func `the invitation of a blocked user is answered as usual, and is not announced`() async throws {
        let (ada, ben) = try await api.event()
        _ = try await api.send("PUT", Self.path + "/\(ada.userID.wireString)", headers: [ben.bearer])
        let answer = try await api.send("PUT", "/v1/topics/event:1/members/\(ben.userID.wireString)", headers: [ada.bearer])
        #expect(answer.status == 202 && answer.json.text("data.status") == "invited")
        #expect(try await api.pushes().isEmpty)
        #expect(try await api.send("PUT", "/v1/topics/event:1/members/me", headers: [ben.bearer]).status == 200)
    }

    @Test(.api) func `messages of a blocked sender are posted as usual and do not count as unread`() async throws {
        let chat = try await Chat.make(api)
        _ = try await api.send("PUT", Self.path + "/\(chat.ada.userID.wireString)", headers: [chat.ben.bearer])
        try await chat.say("Hello", "m-1", by: chat.ada)
        let push = try #require(try await chat.pushes().first)
        #expect(push.references.senderID == chat.ada.userID)
        #expect(try await UnreadRepository(api.postgres).totals(userIDs: [chat.ben.userID]).isEmpty)
        #expect(try await api.send("GET", Chat.path + "/members", headers: [chat.ada.bearer]).json.number("data.member_count") == 2)
    }
}
