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

@Suite struct InvitationTests {
    @Test(.api) func `a stranger who is added to a topic gets one quiet invitation and no free text`() async throws {
        let (ada, ben) = (try await api.customer("one"), try await api.customer("another"))
        #expect(try await api.json("PUT", "/v1/users/me", #"{"display_name":"You have won"}"#, by: ada).status == 200)
        _ = try await api.send("PUT", "/v1/topics/event:1/members/me", headers: [ada.bearer])
        for _ in 0..<2 { #expect(try await api.invite(ben.userID, to: "event:1", by: ada).status == 202) }
        let pushes = try await api.pushes()
        let name = try #require(TopicName("event:1"))
        let topic = try #require(try await TopicRepository(api.postgres).find(name, seenBy: ada.userID))
        #expect(pushes.count == 1)
        let push = try #require(pushes.first)
        #expect(push.kind == .invitation)
        #expect(push.recipient == .user(ben.userID))
        #expect(push.lane == .normal)
        #expect(push.content == InvitationPush(topic: name, topicID: topic.id).content)
        #expect(push.dedupeKey == "invitation:\(topic.id.wireString):\(ben.userID.wireString)")
        #expect(abs(push.expiresAt.timeIntervalSinceNow - 86_400) < 600)
    }

    @Test(.api) func `nothing of a topic reaches an invited user before acceptance`() async throws {
        let (ada, ben) = (try await api.customer("one"), try await api.customer("another"))
        for name in ["event:1", "conversation:1"] {
            let topic = "/v1/topics/\(name)"
            _ = try await api.send("PUT", topic + "/members/me", headers: [ada.bearer])
            #expect(try await api.invite(ben.userID, to: name, by: ada).status == 202)
            #expect(try await api.send("GET", topic + "/members", headers: [ben.bearer]).refusal == "404 topic_not_found")
            #expect(try await api.json("POST", topic + "/read", "", by: ben).refusal == "404 topic_not_found")
            #expect(try await api.invite(UUID(), to: name, by: ben).refusal == "404 topic_not_found")
        }
        #expect(try await api.send(.photo(), to: "/v1/topics/event:1/photos", headers: [ben.bearer]).refusal == "404 topic_not_found")
        let message = #"{"message_id":"m-1","text":"hi"}"#
        #expect(try await api.json("POST", "/v1/topics/conversation:1/messages", message, by: ada).status == 202)
        #expect(try await api.pushes().allSatisfy { $0.kind == .invitation }, "a conversation of one wakes no phone")
        #expect(try await UnreadRepository(api.postgres).totals(userIDs: [ben.userID]).isEmpty)
        #expect(try await api.send("PUT", "/v1/topics/conversation:1/members/me", headers: [ben.bearer]).status == 200)
        #expect(try await UnreadRepository(api.postgres).totals(userIDs: [ben.userID]).isEmpty)
        let later = #"{"message_id":"m-2","text":"hello"}"#
        #expect(try await api.json("POST", "/v1/topics/conversation:1/messages", later, by: ada).status == 202)
        #expect(try await api.pushes().last?.kind == .chatMessage)
        #expect(try await UnreadRepository(api.postgres).totals(userIDs: [ben.userID]) == [ben.userID: 1])
    }

    @Test(.api) func `an invitation for an unknown id looks the same`() async throws {
        let (ada, ben) = try await api.event()
        var bodies: [String] = []
        for id in [ben.userID, UUID()] {
            for _ in 0..<2 {
                let answer = try await api.invite(id, to: "event:1", by: ada)
                #expect(answer.status == 202)
                let data = try #require(answer.json.value("data"))
                bodies.append(data.text.replacing(id.wireString, with: "ID"))
            }
        }
        #expect(Set(bodies).count == 1)
        // The same rows are written for both: an invitation, its log entry, and the request of one push.
        for table in ["topic_invitations", "topic_invitation_log"] { #expect(try await api.count(table) == 2) }
        #expect(try await api.pushes().count == 2)
        for id in [ben.userID, UUID()] {
            let answer = try await api.send("DELETE", "/v1/topics/event:1/members/\(id.wireString)", headers: [ada.bearer])
            #expect(answer.status == 204)
        }
    }

    @Test(.api) func `an invitation is declined or withdrawn with DELETE`() async throws {
        let (ada, ben) = (try await api.customer("one"), try await api.customer("another"))
        let (me, him) = ("/v1/topics/event:1/members/me", "/v1/topics/event:1/members/\(ben.userID.wireString)")
        _ = try await api.send("PUT", me, headers: [ada.bearer])
        #expect(try await api.send("PUT", him, headers: [ada.bearer]).status == 202)
        #expect(try await api.send("DELETE", him, headers: [ada.bearer]).status == 204)
        #expect(try await api.send("PUT", me, headers: [ben.bearer]).refusal == "403 forbidden")
        #expect(try await api.send("PUT", him, headers: [ada.bearer]).status == 202)
        #expect(try await api.send("DELETE", me, headers: [ben.bearer]).status == 204)
        #expect(try await api.send("PUT", him, headers: [ada.bearer]).refusal == "403 forbidden")
    }

    @Test(.api { $0.limits.invitations.madePerDay = 2 })
    func `the invitations of an account in a day are limited, other changes are not`() async throws {
        let (ada, ben) = (try await api.customer("person-1"), try await api.customer("person-2"))
        _ = try await api.send("PUT", "/v1/topics/event:1/members/me", headers: [ada.bearer])
        for id in [ben.userID, UUID()] { #expect(try await api.invite(id, to: "event:1", by: ada).status == 202) }
        let refused = try await api.invite(UUID(), to: "event:1", by: ada)
        #expect(refused.refusal == "429 rate_limited")
        #expect((86_000...86_400).contains(refused.header("Retry-After").flatMap { Int($0) } ?? 0))
        #expect(try await api.invite(ben.userID, to: "event:1", by: ada).status == 202, "one that is open costs nothing")
        #expect(try await api.send("PUT", "/v1/topics/event:2/members/me", headers: [ada.bearer]).status == 200)
    }

    @Test(.api { $0.limits.invitations.pushedPerDay = 1 })
    func `a user with too many invitations gets no more pushes, and the inviters see no difference`() async throws {
        let (ada, ben) = (try await api.customer("person-1"), try await api.customer("person-2"))
        for name in ["event:1", "event:2"] {
            _ = try await api.send("PUT", "/v1/topics/\(name)/members/me", headers: [ada.bearer])
            #expect(try await api.invite(ben.userID, to: name, by: ada).status == 202)
        }
        let name = try #require(TopicName("event:1"))
        let topic = try #require(try await TopicRepository(api.postgres).find(name, seenBy: ada.userID))
        #expect(try await api.pushes().map(\.content) == [InvitationPush(topic: name, topicID: topic.id).content])
        #expect(try await api.send("PUT", "/v1/topics/event:2/members/me", headers: [ben.bearer]).status == 200)
    }
}

extension IdentityFixture {
    func invite(_ userID: UUID, to topic: String, by owner: Customer) async throws -> HTTPClientResponse {
        try await send("PUT", "/v1/topics/\(topic)/members/\(userID.wireString)", headers: [owner.bearer])
    }
}
