import Accounts
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

/// A person is in a topic because they have said so: to its owner, or by entering it.
@Suite struct TopicConsentTests {
    private static let contacts = "/v1/users/me/contacts"
    private static let message = #"{"message_id":"m-1","text":"Your account is locked, go to evil.example"}"#

    /// Makes a conversation of a user, and adds another user to it; returns the status of that and the pushes after a message to it.
    private func attack(_ victim: Customer, in name: String, by attacker: Customer) async throws -> (status: Int, pushes: Int) {
        let topic = "/v1/topics/conversation:\(name)"
        #expect(try await api.send("PUT", topic + "/members/me", headers: [attacker.bearer]).status == 200)
        let status = try await api.invite(victim.userID, to: "conversation:\(name)", by: attacker).status
        #expect(try await api.json("POST", topic + "/messages", Self.message, by: attacker).status == 202)
        return (status, try await api.pushes().count { $0.kind == .chatMessage })
    }

    @Test(.api) func `an event of an app that both attend is no consent to a conversation`() async throws {
        let service = try await api.service(.writeTopics)
        let (eve, victim) = (try await api.customer("eve"), try await api.customer("victim"))
        let event = "/v1/topics/event:conf"
        _ = try await api.send("PUT", event, by: service)
        for user in [eve, victim] {
            #expect(try await api.send("PUT", "\(event)/members/\(user.userID.wireString)", by: service).status == 200)
        }
        // Nor is it one that the victim has left and entered again.
        _ = try await api.send("DELETE", event + "/members/me", headers: [victim.bearer])
        #expect(try await api.send("PUT", event + "/members/me", headers: [victim.bearer]).status == 200)
        #expect(try await attack(victim, in: "x", by: eve) == (202, 0))
        let list = try await api.send("GET", event + "/members", headers: [eve.bearer])
        #expect(!list.text.contains(victim.userID.wireString), "its members are not listed to each other")
    }

    @Test(.api) func `an event of another user that both attend is no consent, also once it passes on`() async throws {
        let (ada, eve, victim) = (try await api.customer("ada"), try await api.customer("eve"), try await api.customer("victim"))
        let event = "/v1/topics/event:1"
        _ = try await api.send("PUT", event + "/members/me", headers: [ada.bearer])
        for user in [eve, victim] { try await api.bring(user, to: event, by: ada) }
        #expect(try await attack(victim, in: "x", by: eve) == (202, 0))
        #expect(try await api.send("DELETE", event + "/members/me", headers: [ada.bearer]).status == 204)
        let list = try await api.send("GET", event + "/members", headers: [eve.bearer]).json
        #expect(list.text("data.owner_id") == eve.userID.wireString)
        #expect(try await attack(victim, in: "y", by: eve) == (202, 0))
    }

    @Test(.api) func `who has accepted an invitation is added to other topics of its owner at once, until they leave`() async throws {
        let (ada, ben) = try await api.event()
        try await api.bring(ben, to: "/v1/topics/event:1", by: ada)
        #expect(try await attack(ben, in: "1", by: ada) == (200, 1))
        #expect(try await api.pushes().count { $0.kind == .invitation } == 1)
        #expect(try await api.send("GET", "/v1/topics/conversation:1/members", headers: [ben.bearer]).status == 200)
        // A membership that the owner has made is not a reason for the next one, so one left behind keeps nothing up.
        #expect(try await api.send("DELETE", "/v1/topics/event:1/members/me", headers: [ben.bearer]).status == 204)
        #expect(try await attack(ben, in: "2", by: ada) == (202, 1))
    }

    @Test(.api) func `a contact is added at once, and the consent of one is not that of the other`() async throws {
        let (ada, ben) = (try await api.customer("ada"), try await api.customer("ben"))
        let path = Self.contacts + "/\(ada.userID.wireString)"
        #expect(try await api.send("PUT", path, headers: [ben.bearer]).status == 204)
        #expect(try await attack(ada, in: "1", by: ben) == (202, 0))
        #expect(try await attack(ben, in: "2", by: ada) == (200, 1))
        #expect(try await api.send("DELETE", path, headers: [ben.bearer]).status == 204)
        #expect(try await attack(ben, in: "3", by: ada) == (202, 1))
    }

    @Test(.api) func `a user who is blocked adds no more, and gets the answer to an invitation`() async throws {
        let (ada, ben) = try await api.event()
        try await api.bring(ben, to: "/v1/topics/event:1", by: ada)
        #expect(try await api.send("PUT", Self.contacts + "/\(ada.userID.wireString)", headers: [ben.bearer]).status == 204)
        #expect(try await api.send("PUT", "/v1/users/me/blocks/\(ada.userID.wireString)", headers: [ben.bearer]).status == 204)
        let pushes = try await api.pushes().count
        _ = try await api.send("PUT", "/v1/topics/event:2/members/me", headers: [ada.bearer])
        var bodies: Set<String> = []
        for id in [ben.userID, UUID()] {
            let answer = try await api.invite(id, to: "event:2", by: ada)
            #expect(answer.status == 202)
            bodies.insert(try #require(answer.json.value("data")).text.replacing(id.wireString, with: "ID"))
        }
        #expect(bodies.count == 1)
        #expect(try await api.pushes().count == pushes + 1, "only the other id's invitation is announced")
        #expect(try await api.send("GET", "/v1/topics/event:2/members", headers: [ben.bearer]).refusal == "404 topic_not_found")
    }

    @Test(.api) func `members cannot ask by an addition who else is a member`() async throws {
        let (ada, ben) = try await api.event()
        try await api.bring(ben, to: "/v1/topics/event:1", by: ada)
        let eve = try await api.customer("eve")
        try await api.bring(eve, to: "/v1/topics/event:1", by: ada)
        for id in [eve.userID, ada.userID, UUID()] {
            #expect(try await api.invite(id, to: "event:1", by: ben).refusal == "403 forbidden")
        }
    }

    @Test(.api { $0.limits.invitations.madePerDay = 2 })
    func `additions at once count as invitations do`() async throws {
        let (ada, ben) = try await api.event()
        #expect(try await api.send("PUT", Self.contacts + "/\(ada.userID.wireString)", headers: [ben.bearer]).status == 204)
        for (topic, status) in [("event:1", 200), ("event:2", 200), ("event:3", 429)] {
            _ = try await api.send("PUT", "/v1/topics/\(topic)/members/me", headers: [ada.bearer])
            #expect(try await api.invite(ben.userID, to: topic, by: ada).status == status)
        }
        #expect(try await api.invite(ben.userID, to: "event:1", by: ada).status == 200, "a member costs nothing")
    }

    @Test(.api) func `a user who leaves while they are added is in no topic that they have not accepted`() async throws {
        let (ada, ben) = try await api.event()
        for round in 0..<10 {
            try await api.bring(ben, to: "/v1/topics/event:1", by: ada)
            let name = "conversation:\(round)"
            _ = try await api.send("PUT", "/v1/topics/\(name)/members/me", headers: [ada.bearer])
            let statuses = try await race(2) { index in
                index == 0
                    ? try await api.invite(ben.userID, to: name, by: ada).status
                    : try await api.send("DELETE", "/v1/topics/event:1/members/me", headers: [ben.bearer]).status
            }
            #expect(statuses.contains(204))
            let isMember = try await api.send("GET", "/v1/topics/\(name)/members", headers: [ben.bearer]).status == 200
            #expect(isMember == statuses.contains(200), "the answer is true")
            _ = try await api.send("DELETE", "/v1/topics/event:1/members/\(ben.userID.wireString)", headers: [ada.bearer])
            // The owner forgets that the user has left, so that the next round can begin.
            try await api.postgres.execute("DELETE FROM topic_leavers")
        }
    }
}
