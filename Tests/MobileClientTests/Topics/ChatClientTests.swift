import Foundation
import Testing

@testable import MobileClient

@Suite struct ChatClientTests {
    private static let posted =
        #"{"success":true,"data":{"message_id":"m-1","conversation_id":"c-1","created_at":"2027-01-15T08:00:00Z"}}"#

    private func client(_ json: String, status: Int = 200, show: @escaping @Sendable (String?) async -> Void = { _ in }) -> (
        ChatClient, ScriptedSender
    ) {
        let sender = ScriptedSender { _ throws(HeliographError) in .json(json, status: status) }
        return (ChatClient(api: sender, show: show), sender)
    }

    @Test func `a message that the app has kept is sent again as it was`() async throws {
        let (chat, sender) = client(Self.posted, status: 202)
        let message = ChatClient.Message("Dinner at eight?")
        _ = try await chat.send(message, to: "c-1")
        let kept = try JSONDecoder().decode(ChatClient.Message.self, from: JSONEncoder().encode(message))
        _ = try await chat.send(kept, to: "c-1")
        let sent = await sender.sent
        #expect(sent.count == 2 && sent[0].body == sent[1].body && sent.allSatisfy { $0.idempotencyKey != nil })
        #expect(sent[0].body == Data(#"{"message_id":"\#(message.id)","text":"Dinner at eight?"}"#.utf8))
        #expect(sent[0].path == "/v1/topics/conversation:c-1/messages")
    }

    @Test func `messages have ids of their own, which the API takes`() throws {
        let ids = (0..<100).map { _ in ChatClient.Message("a").id }
        #expect(Set(ids).count == 100)
        for id in ids { try ArgumentLimits.messageID(id) }
    }

    @Test func `a sensitive message says so, and has no text where the app gives none`() async throws {
        let (chat, sender) = client(Self.posted, status: 202)
        let answer = try await chat.send(.init(id: "m-1", text: nil, isSensitive: true), to: "c-1")
        #expect(await sender.sent.first?.body == Data(#"{"message_id":"m-1","sensitive":true}"#.utf8))
        #expect(answer.messageID == "m-1" && answer.createdAt == Date(timeIntervalSince1970: 1_800_000_000))
    }

    @Test(arguments: [(200, TopicMembers.Addition.added), (202, .invited)])
    func `who is added is a member or invited, by the status`(status: Int, addition: TopicMembers.Addition) async throws {
        let (chat, sender) = client(#"{"success":true,"data":{"topic":"conversation:c-1","user_id":"x"}}"#, status: status)
        let user = UUID()
        #expect(try await chat.add(user, to: "c-1") == addition)
        #expect(await sender.sent.first?.path == "/v1/topics/conversation:c-1/members/\(user.uuidString.lowercased())")
    }

    @Test func `the pages of members follow each other by their cursor`() async throws {
        let (first, second) = (UUID(), UUID())
        let sender = ScriptedSender { sent throws(HeliographError) in
            let isFirst = !sent.query.contains { $0.name == "cursor" }
            return .json(
                #"{"data":{"topic":"conversation:c","owner_id":null,"member_count":2,"members_visible":true,"#
                    + #""members":[{"user_id":"\#(isFirst ? first : second)","#
                    + #""joined_at":"2027-01-15T08:00:00Z"}],"next_cursor":\#(isFirst ? "\"\(first)\"" : "null")}}"#)
        }
        let chat = ChatClient(api: sender, show: { _ in })
        let page = try await chat.members(of: "c", limit: 1)
        let last = try await chat.members(of: "c", after: page.nextCursor, limit: 1)
        #expect(page.members.map(\.userID) == [first] && last.members.map(\.userID) == [second])
        #expect(page.count == 2 && page.ownerID == nil && last.nextCursor == nil)
        #expect(await sender.sent.last?.query.map(\.value) == ["1", first.uuidString.lowercased()])
    }

    @Test func `the conversation on the screen is announced, and then none`() async throws {
        let (shown, show) = AsyncStream.makeStream(of: String?.self)
        let (chat, sender) = client("", show: { show.yield($0) })
        try await chat.setVisible("c-1")
        try await chat.setVisible(nil)
        show.finish()
        #expect(await shown.reduce(into: []) { $0.append($1) } == ["c-1", nil])
        #expect(await sender.sent.isEmpty)
    }

    @Test func `what is read has the number that is left, and the one for the icon`() async throws {
        let (chat, sender) = client(#"{"success":true,"data":{"topic":"conversation:c-1","unread":0,"badge":7}}"#)
        #expect(try await chat.markRead("c-1", upTo: "m-1") == TopicUnread(unread: 0, badge: 7))
        _ = try await chat.markRead("c-1")
        #expect(await sender.sent.map(\.body) == [Data(#"{"message_id":"m-1"}"#.utf8), Data("{}".utf8)])
    }

    @Test func `reports name what they are about`() async throws {
        let (chat, sender) = client(#"{"success":true,"data":{"status":"received"}}"#, status: 202)
        try await chat.report("c-1", ContentReport(.harassment))
        try await chat.report(messageID: "m-1", in: "c-1", ContentReport(.init(rawValue: "new_reason"), text: "t"))
        let sent = await sender.sent
        #expect(sent.map(\.path) == ["/v1/topics/conversation:c-1/report", "/v1/topics/conversation:c-1/messages/m-1/report"])
        #expect(sent.map(\.body) == [Data(#"{"reason":"harassment"}"#.utf8), Data(#"{"reason":"new_reason","text":"t"}"#.utf8)])
    }
}
