import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct TopicTests {
    @Test(.api) func `joining an unknown topic creates it, and users whom its owner invites may join`() async throws {
        let (ada, ben) = (try await api.customer("one"), try await api.customer("another"))
        let made = try await api.send("PUT", "/v1/topics/event:42/members/me", headers: [ada.bearer])
        #expect(made.status == 200 && made.json.text("data.user_id") == ada.userID.wireString)
        #expect(made.json.text("data.topic") == "event:42" && made.json.value("success") == true)
        let asked = try await api.send("PUT", "/v1/topics/event:42/members/\(ben.userID.uuidString)", headers: [ada.bearer])
        #expect(asked.status == 202 && asked.json.text("data.user_id") == ben.userID.wireString)
        #expect(asked.json.text("data.topic") == "event:42" && asked.json.text("data.status") == "invited")
        let accepted = try await api.send("PUT", "/v1/topics/event:42/members/me", headers: [ben.bearer])
        #expect(accepted.status == 200 && accepted.json.text("data.user_id") == ben.userID.wireString)
        let again = try await api.send("PUT", "/v1/topics/event%3A42/members/\(ben.userID.wireString)", headers: [ada.bearer])
        #expect(again.status == 200)
        let list = try await api.send("GET", "/v1/topics/event:42/members", headers: [ben.bearer]).json
        #expect(list.text("data.owner_id") == ada.userID.wireString && list.number("data.member_count") == 2)
        let ids = list.value("data.members")?.elements?.compactMap { $0["user_id"]?.string } ?? []
        #expect(Set(ids) == [ada.userID.wireString, ben.userID.wireString])
    }

    @Test(.api) func `non-members learn only that a name is taken`() async throws {
        let (ada, eve) = try await api.event()
        for topic in ["event:1", "event:none"] {
            let path = "/v1/topics/\(topic)"
            #expect(try await api.send("GET", path + "/members", headers: [eve.bearer]).refusal == "404 topic_not_found")
            for member in [ada.userID, UUID()] {
                let target = path + "/members/\(member.wireString)"
                #expect(try await api.send("PUT", target, headers: [eve.bearer]).refusal == "404 topic_not_found")
                #expect(try await api.send("DELETE", target, headers: [eve.bearer]).refusal == "404 topic_not_found")
            }
            #expect(try await api.send(.photo(), to: path + "/photos", headers: [eve.bearer]).refusal == "404 topic_not_found")
        }
        #expect(try await api.send("PUT", "/v1/topics/event:1/members/me", headers: [eve.bearer]).refusal == "403 forbidden")
    }

    @Test(.api) func `members can leave but not change other members`() async throws {
        let (ada, ben) = try await api.event()
        try await api.bring(ben, to: "/v1/topics/event:1", by: ada)
        let other = "/v1/topics/event:1/members/\(UUID().wireString)"
        #expect(try await api.send("PUT", other, headers: [ben.bearer]).refusal == "403 forbidden")
        let owner = "/v1/topics/event:1/members/\(ada.userID.wireString)"
        #expect(try await api.send("DELETE", owner, headers: [ben.bearer]).refusal == "403 forbidden")
        #expect(try await api.send("DELETE", "/v1/topics/event:1/members/me", headers: [ben.bearer]).status == 204)
        #expect(try await api.send("GET", "/v1/topics/event:1/members", headers: [ben.bearer]).status == 404)
    }

    @Test(.api) func `members are listed in pages`() async throws {
        let ada = try await api.customer()
        _ = try await api.send("PUT", "/v1/topics/event:1/members/me", headers: [ada.bearer])
        try await api.postgres.execute(
            "INSERT INTO topic_members (topic_id, user_id) SELECT id, gen_random_uuid() FROM topics, generate_series(1, 4)")
        var (seen, cursor): ([String], String?) = ([], nil)
        repeat {
            let path = "/v1/topics/event:1/members?limit=2" + (cursor.map { "&cursor=\($0)" } ?? "")
            let page = try await api.send("GET", path, headers: [ada.bearer]).json
            seen += page.value("data.members")?.elements?.compactMap { $0["user_id"]?.string } ?? []
            cursor = page.text("data.next_cursor")
        } while cursor != nil
        #expect(seen.count == 5 && Set(seen).count == 5)
    }

    private static let badRequests: [(method: String, path: String, refusal: String)] = [
        ("PUT", "party:1/members/me", "400 invalid_request topic"), ("PUT", "event:a%20b/members/me", "400 invalid_request topic"),
        ("PUT", "event:1/members/somebody", "400 invalid_request user_id"), ("GET", "event:1/members?limit=0", "400 invalid_request limit"),
        ("GET", "event:1/members?cursor=x", "400 invalid_request cursor"), ("POST", "event:1/members/me", "405 method_not_allowed"),
    ]

    @Test(.api) func `an invalid request is refused with the field's name`() async throws {
        let ada = try await api.customer()
        for (method, path, refusal) in Self.badRequests {
            #expect(try await api.send(method, "/v1/topics/\(path)", headers: [ada.bearer]).refusal == refusal, "\(method) \(path)")
        }
    }

    @Test(.api) func `every topic request needs a bearer`() async throws {
        let asks = ["PUT members/me", "DELETE members/me", "GET members", "POST photos"]
        for ask in asks {
            let parts = ask.split(separator: " ").map(String.init)
            let answer = try await api.send(parts[0], "/v1/topics/event:1/\(parts[1])")
            #expect(answer.refusal == "401 unauthorized")
        }
    }
}
