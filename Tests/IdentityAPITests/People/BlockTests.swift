import Foundation
import HTTPClient
import JSON
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct BlockTests {
    private static let path = "/v1/users/me/blocks"

    @Test(.api) func `users are blocked one by one or all at once, whether their ids exist or not`() async throws {
        let (ada, ben) = (try await api.customer("ada"), try await api.customer("ben"))
        for id in [ben.userID, UUID()] {
            for _ in 0..<2 { #expect(try await api.send("PUT", Self.path + "/\(id.wireString)", headers: [ada.bearer]).status == 204) }
        }
        #expect(try await blocked(by: ada).count == 2)
        for _ in 0..<2 {
            #expect(try await api.send("DELETE", Self.path + "/\(ben.userID.wireString)", headers: [ada.bearer]).status == 204)
        }
        #expect(try await blocked(by: ada).count == 1)
        let others = [UUID(), ben.userID]
        let list = others.map { "\"\($0)\"" }.joined(separator: ",")
        let replaced = try await api.json("PUT", Self.path, "{\"user_ids\":[\(list)]}", by: ada)
        #expect(replaced.status == 200)
        #expect(try await blocked(by: ada) == Set(others.map(\.wireString)))
        #expect(try await blocked(by: ben).isEmpty)
    }

    @Test(.api) func `an id whose digits are signs names no user, in a path and in a body`() async throws {
        let ada = try await api.customer()
        let signed = "+a95f3a0-1b2c-7d3e-8f40-5162738495a6"
        let answer = try await api.send("PUT", Self.path + "/\(signed)", headers: [ada.bearer])
        #expect(answer.refusal == "400 invalid_request user_id")
        #expect(try await api.json("PUT", Self.path, "{\"user_ids\":[\"\(signed)\"]}", by: ada).refusal == "400 invalid_request user_ids")
        #expect(try await blocked(by: ada).isEmpty)
    }

    @Test(.api) func `the number of blocks is limited, and a user cannot block themselves`() async throws {
        let ada = try await api.customer()
        let herself = try await api.send("PUT", Self.path + "/\(ada.userID.wireString)", headers: [ada.bearer])
        #expect(herself.refusal == "400 invalid_request user_id")
        try await api.postgres.execute(
            """
            INSERT INTO user_blocks (user_id, blocked_id)
            SELECT \(ada.userID), gen_random_uuid() FROM generate_series(1, \(BlockRepository.maxBlocks - 1))
            """)
        let answers = try await race(4) { _ in try await api.send("PUT", Self.path + "/\(UUID().wireString)", headers: [ada.bearer]) }
        #expect(answers.count { $0.status == 204 } == 1 && answers.count { $0.refusal == "409 limit_reached" } == 3)
        let many = (0...BlockRepository.maxBlocks).map { _ in "\"\(UUID())\"" }.joined(separator: ",")
        #expect(try await api.json("PUT", Self.path, "{\"user_ids\":[\(many)]}", by: ada).refusal == "400 invalid_request user_ids")
    }

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
        #expect(push.parameters[NotificationParameter.senderID] == chat.ada.userID.wireString)
        #expect(try await UnreadRepository(api.postgres).totals(userIDs: [chat.ben.userID]).isEmpty)
        #expect(try await api.send("GET", Chat.path + "/members", headers: [chat.ada.bearer]).json.number("data.member_count") == 2)
    }

    private func blocked(by user: Customer) async throws -> Set<String> {
        let json = try await api.send("GET", Self.path, headers: [user.bearer]).json
        return Set(json.value("data.blocks")?.elements?.compactMap { $0["user_id"]?.string } ?? [])
    }
}
