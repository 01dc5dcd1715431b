import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import Testing

@testable import IdentityAPI

@Suite struct ServiceCredentialTests {
    private static let topic = "/v1/topics/event:42"

    @Test(.api) func `a key is refused where a user is needed, and a user's token where a key is needed`() async throws {
        let (service, ada) = (try await api.service(.writeTopics, .notify), try await api.customer())
        for path in ["/v1/images/jobs", "/v1/users/me/blocks"] {
            #expect(try await api.send("GET", path, by: service).refusal == "403 forbidden")
        }
        #expect(try await api.send("PUT", Self.topic + "/members/me", by: service).refusal == "400 invalid_request user_id")
        #expect(try await api.send("PUT", Self.topic, headers: [ada.bearer]).refusal == "403 forbidden")
        #expect(try await api.json("POST", "/v1/notifications", "{}", by: ada).refusal == "403 forbidden")
    }

    @Test(.api) func `an unknown, wrong, expired or revoked key is unauthorized, with one answer`() async throws {
        let (service, revoked) = (try await api.service(.writeTopics), try await api.service(.writeTopics))
        let expired = try await api.service(.writeTopics, lifetime: .seconds(-1))
        #expect(try await ServiceCredentialRepository(api.postgres).revoke(id: revoked.key.credentialID))
        let text = service.key.text
        let wrong = String(text.dropLast(3)) + (text.hasSuffix("AAA") ? "BBA" : "AAA")
        var messages = Set<String>()
        for key in [wrong, revoked.key.text, expired.key.text, ServiceKey.generate().text, "hgk_", "hgk_x_y"] {
            for (method, path) in [("PUT", Self.topic), ("GET", "/v1/images/jobs")] {
                let answer = try await api.send(method, path, headers: [("Authorization", "Bearer \(key)")])
                #expect(answer.refusal == "401 unauthorized")
                messages.insert(answer.json.text("message") ?? "")
            }
        }
        #expect(messages.count == 1)
        #expect(try await api.send("PUT", Self.topic, by: service).status == 200)
    }

    @Test(.api) func `a key without the scope is refused`() async throws {
        let (notifying, writing) = (try await api.service(.notify), try await api.service(.writeTopics))
        #expect(try await api.send("PUT", Self.topic, by: notifying).refusal == "403 forbidden")
        #expect(try await api.send("POST", "/v1/notifications", by: writing, json: "{}").refusal == "403 forbidden")
    }

    @Test(.api { $0.limits.services = Rate(perMinute: 1, burst: 2) }) func `the requests of a key are limited`() async throws {
        let (service, other) = (try await api.service(.writeTopics), try await api.service(.writeTopics))
        for _ in 0..<2 { #expect(try await api.send("PUT", Self.topic, by: service).status == 200) }
        #expect(try await api.send("PUT", Self.topic, by: service).refusal == "429 rate_limited")
        #expect(try await api.send("PUT", Self.topic, by: other).status == 200)
    }

    @Test(.api) func `the last use of a key is recorded once a minute`() async throws {
        let service = try await api.service(.writeTopics)
        let credentials = ServiceCredentialRepository(api.postgres)
        #expect(try await credentials.find(id: service.key.credentialID)?.lastUsedAt == nil)
        _ = try await api.send("PUT", Self.topic, by: service)
        let first = try #require(try await credentials.find(id: service.key.credentialID)?.lastUsedAt)
        _ = try await api.send("PUT", Self.topic, by: service)
        #expect(try await credentials.find(id: service.key.credentialID)?.lastUsedAt == first)
        try await api.postgres.execute("UPDATE service_credentials SET last_used_at = now() - interval '2 minutes'")
        _ = try await api.send("PUT", Self.topic, by: service)
        #expect(try #require(try await credentials.find(id: service.key.credentialID)?.lastUsedAt) >= first)
    }

    @Test func `a key is its id and its secret, and is parsed back`() throws {
        let key = ServiceKey.generate()
        let parsed = try #require(ServiceKey(key.text))
        #expect(parsed.credentialID == key.credentialID && parsed.secretHash == key.secretHash)
        #expect(key.text.hasPrefix("hgk_") && key.text.utf8.count == 4 + 32 + 1 + 43)
        for text in ["", "hgk_", key.text + "=", String(key.text.dropLast()), "HGK_" + key.text.dropFirst(4), key.text + "A"] {
            #expect(ServiceKey(text) == nil)
        }
        // 32 bytes, but fewer characters; and digits that are none.
        let secret = key.text.suffix(43)
        for id in ["é", "\u{301}"].map({ String(repeating: $0, count: 16) }) + [
            String(repeating: "+1", count: 16), String(repeating: "-", count: 32),
        ] {
            #expect(ServiceKey("hgk_\(id)_\(secret)") == nil)
        }
    }
}
