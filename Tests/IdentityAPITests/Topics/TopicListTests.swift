import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

@testable import IdentityAPI

@Suite struct TopicListTests {
    /// The values of a member of each element of a list, over all its pages of one element.
    private func list(_ path: String, _ name: String, _ member: String, by user: Customer) async throws -> [String] {
        var (found, cursor): ([String], String?) = ([], nil)
        repeat {
            let query = "?limit=1" + (cursor.map { "&cursor=\($0)" } ?? "")
            let answer = try await api.send("GET", path + query, headers: [user.bearer])
            try #require(answer.status == 200)
            found += answer.json.value("data.\(name)")?.elements?.compactMap { $0[member]?.string } ?? []
            cursor = answer.json.text("data.next_cursor")
        } while cursor != nil
        return found
    }

    @Test(.api) func `a user's topics are listed page by page, the last joined first, until they leave`() async throws {
        let (ada, ben) = try await api.event()
        for name in ["event:2", "conversation:3"] { _ = try await api.send("PUT", "/v1/topics/\(name)/members/me", headers: [ada.bearer]) }
        try await api.bring(ben, to: "/v1/topics/event:2", by: ada)
        #expect(try await list("/v1/topics", "topics", "topic", by: ada) == ["conversation:3", "event:2", "event:1"])
        #expect(try await list("/v1/topics", "topics", "role", by: ben) == ["member"])
        _ = try await api.send("DELETE", "/v1/topics/event:2/members/me", headers: [ben.bearer])
        #expect(try await list("/v1/topics", "topics", "topic", by: ben).isEmpty)
    }

    @Test(.api) func `invitations are listed until they are accepted, declined or withdrawn, or have expired`() async throws {
        let (ada, ben) = try await api.event()
        for name in ["event:2", "event:3", "event:4"] {
            _ = try await api.send("PUT", "/v1/topics/\(name)/members/me", headers: [ada.bearer])
        }
        for name in ["event:1", "event:2", "event:3", "event:4"] {
            #expect(try await api.invite(ben.userID, to: name, by: ada).status == 202)
        }
        #expect(try await invitations(of: ben) == ["event:4", "event:3", "event:2", "event:1"])
        _ = try await api.send("DELETE", "/v1/topics/event:1/members/me", headers: [ben.bearer])
        _ = try await api.send("DELETE", "/v1/topics/event:2/members/\(ben.userID.wireString)", headers: [ada.bearer])
        #expect(try await invitations(of: ben) == ["event:4", "event:3"])
        _ = try await api.send("PUT", "/v1/topics/event:3/members/me", headers: [ben.bearer])
        #expect(try await invitations(of: ben) == ["event:4"])
        try await api.postgres.execute("UPDATE topic_invitations SET expires_at = now()")
        #expect(try await invitations(of: ben).isEmpty)
    }

    @Test(.api) func `invitations and photos of a user who is blocked are not listed`() async throws {
        let (ada, ben) = try await api.event()
        try await api.bring(ben, to: "/v1/topics/event:1", by: ada)
        _ = try await api.send("PUT", "/v1/topics/event:2/members/me", headers: [ada.bearer])
        _ = try await api.send("DELETE", "/v1/topics/event:1/members/me", headers: [ben.bearer])
        _ = try await api.send("PUT", "/v1/topics/event:1/members/me", headers: [ben.bearer])
        try await api.showPhoto("thumbnail-1.jpg", by: ada, in: "event:1")
        try await api.postgres.execute(
            """
            INSERT INTO topic_invitations (topic_id, user_id, inviter_id, is_announced, expires_at)
            SELECT id, \(ben.userID), \(ada.userID), false, now() + interval '1 day' FROM topics WHERE name = 'event:2'
            """)
        #expect(try await invitations(of: ben) == ["event:2"])
        #expect(try await photos(of: ben).count == 1)
        #expect(try await api.send("PUT", "/v1/users/me/blocks/\(ada.userID.wireString)", headers: [ben.bearer]).status == 204)
        #expect(try await invitations(of: ben).isEmpty)
        #expect(try await photos(of: ben).isEmpty)
        #expect(try await photos(of: ada).count == 1)
    }

    @Test(.api) func `the photos of an event are listed to its members once they can be shown, the newest first`() async throws {
        let (ada, ben) = try await api.event()
        #expect(try await api.send("GET", "/v1/topics/event:1/photos", headers: [ben.bearer]).refusal == "404 topic_not_found")
        try await api.bring(ben, to: "/v1/topics/event:1", by: ada)
        #expect(try await api.send(.photo(), to: "/v1/topics/event:1/photos", headers: [ada.bearer]).status == 202)
        #expect(try await photos(of: ben).isEmpty, "its thumbnail is not made yet")
        for name in ["thumbnail-1.jpg", "thumbnail-2.jpg"] { try await api.showPhoto(name, by: ada, in: "event:1") }
        #expect(try await photos(of: ben).map { $0.contains("/thumbnail-2.jpg?") } == [true, false])
        _ = try await api.send("DELETE", "/v1/topics/event:1/members/me", headers: [ben.bearer])
        #expect(try await api.send("GET", "/v1/topics/event:1/photos", headers: [ben.bearer]).refusal == "404 topic_not_found")
        let chat = try await api.send("GET", "/v1/topics/conversation:1/photos", headers: [ben.bearer])
        #expect(chat.refusal == "400 invalid_request topic")
    }

    @Test(.api) func `the link of a photo is the same for an hour, and ends within a day and with the photo`() async throws {
        let (ada, _) = try await api.event()
        try await api.showPhoto("thumbnail-1.jpg", by: ada, in: "event:1")
        let end = try await secondsLeft(of: ada)
        #expect(23 * 3_600 - 1 <= end)
        #expect(end <= 24 * 3_600)
        try await api.postgres.execute("UPDATE topic_photos SET expires_at = now() + interval '1 minute'")
        #expect(try await secondsLeft(of: ada) <= 61)
    }

    /// The seconds for which the link of a member's first photo is valid.
    private func secondsLeft(of member: Customer) async throws -> TimeInterval {
        let link = try #require(try await photos(of: member).first)
        let end = try #require(link.firstMatch(of: /exp=(\d+)/)?.output.1)
        return try #require(TimeInterval(end)) - Date().timeIntervalSince1970
    }

    @Test(.api, arguments: ["/v1/topics", "/v1/invitations", "/v1/topics/event:1/photos"])
    func `a page is a number of elements, after a cursor that was given out`(path: String) async throws {
        let (ada, _) = try await api.event()
        for limit in ["0", "201", "many"] {
            #expect(try await api.send("GET", path + "?limit=\(limit)", headers: [ada.bearer]).refusal == "400 invalid_request limit")
        }
        #expect(try await api.send("GET", path + "?cursor=7", headers: [ada.bearer]).refusal == "400 invalid_request cursor")
        #expect(try await api.send("GET", path).refusal == "401 unauthorized")
    }

    private func invitations(of user: Customer) async throws -> [String] {
        try await list("/v1/invitations", "invitations", "topic", by: user)
    }

    private func photos(of user: Customer) async throws -> [String] {
        try await list("/v1/topics/event:1/photos", "photos", "thumbnail_url", by: user)
    }
}

extension IdentityFixture {
    /// Adds a photo to an event as a user, and makes it ready as image-worker does.
    func showPhoto(_ thumbnail: String, by user: Customer, in topic: String) async throws {
        let id = UUID()
        let photo = NewTopicPhoto(
            id: id, topic: try #require(TopicName(topic)), uploaderID: user.userID, photoKey: "topics/\(id.wireString)/photo")
        _ = try #require(try await TopicPhotoRepository(postgres).insert(photo))
        #expect(
            try await TopicPhotoRepository(postgres).markReady(id: id, thumbnailKey: "topics/\(id.wireString)/\(thumbnail)"))
    }
}
