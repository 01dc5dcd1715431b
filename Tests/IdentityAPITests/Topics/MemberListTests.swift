import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct MemberListTests {
    private static let event = "/v1/topics/event:1"

    /// Makes an event of three members; the first owns it.
    private func members() async throws -> [Customer] {
        let (ada, ben) = try await api.event()
        let eve = try await api.customer("eve")
        for user in [ben, eve] { try await api.bring(user, to: Self.event, by: ada) }
        return [ada, ben, eve]
    }

    /// The ids on the list, over all its pages of one member.
    private func list(_ bearer: (name: String, value: String)) async throws -> Set<String> {
        var (found, cursor): ([String], String?) = ([], nil)
        repeat {
            let page = try await api.send(
                "GET", Self.event + "/members?limit=1" + (cursor.map { "&cursor=\($0)" } ?? ""), headers: [bearer])
            try #require(page.status == 200)
            found += page.json.value("data.members")?.elements?.compactMap { $0["user_id"]?.string } ?? []
            cursor = page.json.text("data.next_cursor")
        } while cursor != nil
        #expect(Set(found).count == found.count)
        return Set(found)
    }

    private func set(_ json: String, by user: Customer) async throws -> HTTPClientResponse {
        try await api.json("PUT", Self.event + "/settings", json, by: user)
    }

    @Test(.api) func `a member sees the owner and themselves, until the owner shows all members to each`() async throws {
        let users = try await members()
        let (ids, ben) = (users.map(\.userID.wireString), users[1])
        #expect(try await list(users[0].bearer) == Set(ids))
        #expect(try await list(ben.bearer) == Set(ids[0...1]))
        let hidden = try await api.send("GET", Self.event + "/members", headers: [ben.bearer]).json
        #expect(hidden.number("data.member_count") == 3 && hidden.value("data.members_visible") == false)
        let changed = try await set(#"{"members_visible":true}"#, by: users[0])
        #expect(changed.status == 200 && changed.json.value("data.members_visible") == true)
        #expect(changed.json.text("data.topic") == "event:1")
        #expect(try await list(ben.bearer) == Set(ids))
        let topics = try await api.send("GET", "/v1/topics", headers: [ben.bearer]).json
        #expect(topics.value("data.topics")?.elements?.map { $0["members_visible"] } == [true])
        #expect(try await set(#"{"members_visible":false}"#, by: users[0]).status == 200)
        #expect(try await list(ben.bearer) == Set(ids[0...1]))
    }

    @Test(.api) func `only the owner changes the settings of a topic, and to strangers it does not exist`() async throws {
        let (ada, ben) = try await api.event()
        #expect(try await set(#"{"members_visible":true}"#, by: ben).refusal == "404 topic_not_found")
        try await api.bring(ben, to: Self.event, by: ada)
        #expect(try await set(#"{"members_visible":true}"#, by: ben).refusal == "403 forbidden")
        #expect(try await set("{}", by: ada).refusal == "400 missing_field members_visible")
        #expect(try await set(#"{"members_visible":"perhaps"}"#, by: ada).refusal == "400 invalid_request members_visible")
        #expect(try await api.send("PUT", Self.event + "/settings").refusal == "401 unauthorized")
        #expect(try await api.postgres.query("SELECT FROM topics WHERE members_visible").isEmpty)
    }

    @Test(.api) func `an app's key sees all members of its topics, and sets whether they see each other`() async throws {
        let (service, other) = (try await api.service(.writeTopics), try await api.service(.writeTopics, app: "other"))
        let (ada, ben) = (try await api.customer("ada"), try await api.customer("ben"))
        _ = try await api.send("PUT", Self.event, by: service)
        for user in [ada, ben] {
            #expect(try await api.send("PUT", "\(Self.event)/members/\(user.userID.wireString)", by: service).status == 200)
        }
        #expect(try await list(service.bearer) == Set([ada, ben].map(\.userID.wireString)))
        #expect(try await list(ada.bearer) == [ada.userID.wireString])
        let settings = Self.event + "/settings"
        #expect(try await set(#"{"members_visible":true}"#, by: ada).refusal == "403 forbidden")
        let refused = try await api.send("PUT", settings, by: other, json: #"{"members_visible":true}"#)
        #expect(refused.refusal == "404 topic_not_found")
        #expect(try await api.send("PUT", settings, by: service, json: #"{"members_visible":true}"#).status == 200)
        #expect(try await list(ada.bearer) == Set([ada, ben].map(\.userID.wireString)))
    }
}
