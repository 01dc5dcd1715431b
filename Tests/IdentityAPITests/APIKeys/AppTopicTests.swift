import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct AppTopicTests {
    private static let topic = "/v1/topics/event:42"

    @Test(.api) func `an app makes a topic and puts members into it without invitations`() async throws {
        let (service, ada) = (try await api.service(.writeTopics), try await api.customer())
        for _ in 0..<2 { #expect(try await api.send("PUT", Self.topic, by: service).status == 200) }
        let member = Self.topic + "/members/\(ada.userID.wireString)"
        for _ in 0..<2 { #expect(try await api.send("PUT", member, by: service).status == 200) }
        #expect(try await api.count("topic_invitations") == 0)
        #expect(try await api.pushes().isEmpty)
        let list = try await api.send("GET", Self.topic + "/members", by: service).json
        #expect(list.number("data.member_count") == 1 && list.value("data.owner_id") == .null)
        #expect(try await api.send("GET", Self.topic + "/members", headers: [ada.bearer]).status == 200)
        #expect(try await api.send(.photo(), to: Self.topic + "/photos", headers: [ada.bearer]).status == 202)
        for _ in 0..<2 { #expect(try await api.send("DELETE", member, by: service).status == 204) }
        #expect(try await api.send("GET", Self.topic + "/members", headers: [ada.bearer]).refusal == "404 topic_not_found")
        #expect(try await api.send("GET", Self.topic + "/members", by: service).json.number("data.member_count") == 0, "it stays")
    }

    @Test(.api) func `users can neither take nor enter nor change the topic of an app`() async throws {
        let (service, ada, eve) = (try await api.service(.writeTopics), try await api.customer("ada"), try await api.customer("eve"))
        _ = try await api.send("PUT", Self.topic, by: service)
        #expect(try await api.send("PUT", Self.topic + "/members/me", headers: [eve.bearer]).refusal == "403 forbidden")
        _ = try await api.send("PUT", Self.topic + "/members/\(ada.userID.wireString)", by: service)
        let other = Self.topic + "/members/\(eve.userID.wireString)"
        #expect(try await api.send("PUT", other, headers: [ada.bearer]).refusal == "403 forbidden")
        #expect(try await api.send("DELETE", Self.topic, headers: [ada.bearer]).refusal == "403 forbidden")
    }

    @Test(.api) func `a member who left may come back, and one whom the app removed may not`() async throws {
        let (service, ada) = (try await api.service(.writeTopics), try await api.customer())
        let (me, member) = (Self.topic + "/members/me", Self.topic + "/members/\(ada.userID.wireString)")
        _ = try await api.send("PUT", Self.topic, by: service)
        _ = try await api.send("PUT", member, by: service)
        #expect(try await api.send("DELETE", me, headers: [ada.bearer]).status == 204)
        #expect(try await api.send("PUT", me, headers: [ada.bearer]).status == 200)
        #expect(try await api.send("DELETE", me, headers: [ada.bearer]).status == 204)
        #expect(try await api.send("DELETE", member, by: service).status == 204)
        #expect(try await api.send("PUT", me, headers: [ada.bearer]).refusal == "403 forbidden")
        #expect(try await api.send("PUT", member, by: service).status == 200, "the app decides")
    }

    @Test(.api) func `topics of users and of other apps do not exist for an app, but their names are taken`() async throws {
        let (service, other) = (try await api.service(.writeTopics), try await api.service(.writeTopics, app: "other"))
        let (ada, _) = try await api.event()
        _ = try await api.send("PUT", "/v1/topics/event:other", by: other)
        for name in ["event:1", "event:other"] {
            let path = "/v1/topics/\(name)"
            #expect(try await api.send("PUT", path, by: service).refusal == "409 name_taken topic")
            #expect(try await api.send("GET", path + "/members", by: service).refusal == "404 topic_not_found")
            let member = path + "/members/\(ada.userID.wireString)"
            #expect(try await api.send("PUT", member, by: service).refusal == "404 topic_not_found")
            #expect(try await api.send("DELETE", member, by: service).refusal == "404 topic_not_found")
            #expect(try await api.send("DELETE", path, by: service).status == 204)
        }
        #expect(try await api.count("topics") == 2)
    }

    @Test(.api) func `another key of the same app has the same topics`() async throws {
        let (first, second) = (try await api.service(.writeTopics), try await api.service(.writeTopics))
        _ = try await api.send("PUT", Self.topic, by: first)
        #expect(try await ServiceCredentialRepository(api.postgres).revoke(id: first.key.credentialID))
        #expect(try await api.send("GET", Self.topic + "/members", by: second).status == 200)
        #expect(try await api.send("DELETE", Self.topic, by: second).status == 204)
        #expect(try await api.count("topics") == 0)
    }

    @Test(.api { $0.topicCreators = .apps }) func `where only apps make topics, users enter none that does not exist`() async throws {
        let (service, ada) = (try await api.service(.writeTopics), try await api.customer())
        #expect(try await api.send("PUT", Self.topic + "/members/me", headers: [ada.bearer]).refusal == "404 topic_not_found")
        #expect(try await api.send("PUT", Self.topic, by: service).status == 200)
    }

    @Test(.api) func `a name that an app and users want at the same time has one owner`() async throws {
        let (service, ada) = (try await api.service(.writeTopics), try await api.customer())
        let answers = try await race(10) { number in
            let isOfApp = number % 2 == 0
            let answer =
                isOfApp
                ? try await api.send("PUT", Self.topic, by: service)
                : try await api.send("PUT", Self.topic + "/members/me", headers: [ada.bearer])
            return (isOfApp, answer.status)
        }
        let apps = Set(answers.filter(\.0).map(\.1))
        let users = Set(answers.filter { !$0.0 }.map(\.1))
        let isOfApp = apps == [200] && users.isSubset(of: [403, 404])
        #expect(isOfApp || users == [200] && apps == [409], "\(apps) \(users)")
    }
}
