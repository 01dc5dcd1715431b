import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

@testable import IdentityAPI

/// The exchanges about events and conversations.
@Suite struct GoldenTopicTests {
    @Test(.api) func `an event and its members`() async throws {
        let (ada, ben, eve) = (try await api.customer("ada"), try await api.customer("ben"), try await api.customer("eve"))
        let owner = GoldenExchanges(api, ["<token>": ada.token, "<uuid:me>": ada.userID.wireString])
        let guest = GoldenExchanges(api, ["<token>": ben.token, "<uuid:me>": ben.userID.wireString])
        let stranger = GoldenExchanges(api, ["<token>": eve.token, "<uuid:user>": ben.userID.wireString])
        try await owner.run("topic-enter")
        try await owner.run("topic-add-invited", ["<uuid:user>": ben.userID.wireString])
        try await stranger.run("topic-members-not-found")
        try await guest.run("topic-enter")
        try await stranger.run("topic-enter-forbidden")
        try await guest.run("topic-add-forbidden", ["<uuid:user>": eve.userID.wireString])
        // The guest has accepted the owner's invitation by now, so no other one is needed.
        #expect(try await api.send("PUT", "/v1/topics/event:other/members/me", headers: [ada.bearer]).status == 200)
        try await owner.run("topic-add-added", ["<uuid:user>": ben.userID.wireString])
        // Without the names of their ids: which of them comes first is not the same in each run.
        let anonymous = GoldenExchanges(api, ["<token>": ada.token])
        try await anonymous.run("topic-members-page")
        try await owner.run("topic-settings")
        try await guest.run("topic-settings-forbidden")
        try await owner.run("topic-remove", ["<uuid:user>": ben.userID.wireString])
        try await anonymous.run("topic-members-last-page")
        try await owner.run("topic-leave")
    }

    @Test(.api { $0.limits.invitations = TopicInvitationQuota(madePerDay: 1) })
    func `too many invitations`() async throws {
        let (ada, _) = try await api.event()
        #expect(try await api.send("PUT", "/v1/topics/event:1/members/\(UUID().wireString)", headers: [ada.bearer]).status == 202)
        let golden = GoldenExchanges(api, ["<token>": ada.token, "<uuid:user>": UUID().wireString])
        try await golden.run("topic-add-rate-limited")
    }

    @Test(.api) func `photos of an event`() async throws {
        let ada = try await api.customer("ada")
        #expect(try await api.send("PUT", "/v1/topics/event:party/members/me", headers: [ada.bearer]).status == 200)
        let key = UUID().wireString
        let golden = GoldenExchanges(api, ["<token>": ada.token])
        try await golden.run("photo-add", ["<uuid:request>": key])
        try await golden.run("photo-add-repeated", ["<uuid:request>": key])
        try await golden.run("photo-add-key-reused", ["<uuid:request>": key])
        try await golden.run("photo-invalid-image")
        try await golden.run("photo-too-large")
        let eve = try await api.customer("eve")
        try await golden.run("photo-topic-not-found", ["<token>": eve.token])
    }

    @Test(.api) func `the topics, the invitations and the photos that an app shows`() async throws {
        let (ada, ben) = (try await api.customer("ada"), try await api.customer("ben"))
        let owner = GoldenExchanges(api, ["<token>": ada.token, "<uuid:user>": ada.userID.wireString])
        let guest = GoldenExchanges(api, ["<token>": ben.token, "<uuid:user>": ada.userID.wireString])
        for topic in ["event:party", "conversation:c-1"] {
            let member = topic == "event:party" ? ada : ben
            #expect(try await api.send("PUT", "/v1/topics/\(topic)/members/me", headers: [member.bearer]).status == 200)
        }
        try await guest.run("photos-not-found")
        #expect(try await api.invite(ben.userID, to: "event:party", by: ada).status == 202)
        try await guest.run("invitations-list")
        #expect(try await api.send("PUT", "/v1/topics/event:party/members/me", headers: [ben.bearer]).status == 200)
        let cursor = try await guest.run("topics-page").json.text("data.next_cursor")
        try await guest.run("topics-last-page", ["<token:cursor>": try #require(cursor)])
        try await api.showPhoto("thumbnail-1.jpg", by: ada, in: "event:party")
        try await owner.run("photos-list")
    }

    @Test(.api) func `messages of a conversation`() async throws {
        let chat = try await Chat.make(api)
        let golden = GoldenExchanges(api, ["<token>": chat.ada.token])
        try await golden.run("message-post")
        try await golden.run("message-repeated")
        try await golden.run("message-id-reused")
        try await golden.run("message-sensitive")
        try await golden.run("message-missing-text")
        let reader = GoldenExchanges(api, ["<token>": chat.ben.token])
        try await reader.run("read-up-to")
        try await reader.run("read-all")
        try await reader.run("read-unknown-message")
    }
}
