import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

@testable import IdentityAPI

@Suite struct PhotoUploadTests {
    @Test(.api) func `a member's photo is stored, and its event is published`() async throws {
        let ada = try await api.host()
        let answer = try await api.send(.photo(), to: path, headers: [ada.bearer] + [("X-Request-ID", UUID().uuidString)])
        #expect(answer.status == 202 && answer.json.text("data.status") == "pending")
        let id = try #require(UUID(uuidString: answer.json.text("data.photo_id") ?? ""))
        let photo = try #require(try await TopicPhotoRepository(api.postgres).find(id: id))
        #expect(photo.state == .pending)
        #expect(photo.uploaderID == ada.userID)
        #expect(photo.photoKey == "topics/\(id.wireString)/photo")
        #expect(abs(photo.expiresAt.timeIntervalSinceNow - 30 * 86_400) < 600)
        #expect(api.storedFiles().count == 1)
        let events = try await api.postgres.query("SELECT id FROM outbox WHERE type = 'photo.uploaded'")
        #expect(events.count == 1)
    }

    @Test(.api) func `a photo repeated with its request id is added once`() async throws {
        let ada = try await api.host()
        let headers = [ada.bearer] + [("X-Request-ID", UUID().uuidString)]
        let first = try await api.send(.photo(), to: path, headers: headers)
        let again = try await api.send(.photo(), to: path, headers: headers)
        #expect(again.status == 202)
        #expect(again.text == first.text)
        #expect(again.header("Idempotent-Replayed") == "true")
        #expect(try await api.count("topic_photos") == 1 && api.storedFiles().count == 1)
        let other = try await api.send(.photo(seed: 9), to: path, headers: headers)
        #expect(other.refusal == "422 idempotency_key_reused")
    }

    @Test(.api) func `one photo sent many times concurrently is added once`() async throws {
        let ada = try await api.host()
        let headers = [ada.bearer] + [("X-Request-ID", UUID().uuidString)]
        let answers = try await race(12) { _ in try await api.send(.photo(), to: path, headers: headers) }
        #expect(answers.allSatisfy { $0.status == 202 || $0.refusal == "409 request_in_progress" })
        #expect(Set(answers.filter { $0.status == 202 }.map(\.text)).count == 1)
        #expect(try await api.count("topic_photos") == 1 && api.storedFiles().count == 1)
    }

    @Test(.api) func `unknown fields of any length are ignored`() async throws {
        let ada = try await api.host()
        var form = Form()
        form.text("caption", String(repeating: "a", count: 1 << 20))
        form.parts += Form.photo().parts
        let answer = try await api.send(form, to: path, headers: [ada.bearer])
        #expect(answer.status == 202)
    }

    @Test(.api) func `an invalid photo leaves nothing`() async throws {
        let ada = try await api.host()
        for bad in Form.badPhotos() {
            let answer = try await api.send(bad.form, to: path, headers: [ada.bearer])
            #expect(answer.refusal == bad.refusal)
        }
        let count = try await api.count("topic_photos")
        #expect(count == 0 && api.storedFiles().isEmpty)
    }

    @Test(.api) func `photos are refused for conversations and for a full event`() async throws {
        let ada = try await api.host()
        _ = try await api.send("PUT", "/v1/topics/conversation:1/members/me", headers: [ada.bearer])
        let talk = try await api.send(.photo(), to: "/v1/topics/conversation:1/photos", headers: [ada.bearer])
        #expect(talk.refusal == "400 invalid_request topic")
        try await api.postgres.execute(
            """
            INSERT INTO topic_photos (id, topic_id, uploader_id, photo_key, expires_at)
            SELECT gen_random_uuid(), id, gen_random_uuid(), 'k', now() + interval '1 day'
            FROM topics, generate_series(1, \(TopicLimits.maxPhotos)) WHERE name = 'event:party'
            """)
        #expect(try await api.send(.photo(), to: path, headers: [ada.bearer]).refusal == "409 limit_reached")
        #expect(api.storedFiles().isEmpty)
    }

    @Test(arguments: [TopicPhotoQuota(photosPerDay: 3), TopicPhotoQuota(bytesPerDay: 3 * TestPhoto.jpeg(seed: 1).count + 1)])
    func `the photos and bytes that an account adds in a day are limited, also concurrently`(quota: TopicPhotoQuota) async throws {
        try await withIdentityAPI {
            $0.limits.photoQuota = quota
        } _: { api in
            let ada = try await api.customer()
            _ = try await api.send("PUT", "/v1/topics/event:party/members/me", headers: [ada.bearer])
            let answers = try await race(8) { _ in try await api.send(.photo(), to: path, headers: [ada.bearer]) }
            let refusals = answers.filter { $0.status != 202 }
            #expect(refusals.count == 5)
            for refusal in refusals {
                #expect(refusal.refusal == "429 rate_limited")
                #expect((86_000...86_400).contains(refusal.header("Retry-After").flatMap { Int($0) } ?? 0))
            }
            #expect(try await api.count("topic_photos") == 3 && api.storedFiles().count == 3)
            try await api.postgres.execute("UPDATE topic_photos SET created_at = created_at - interval '1 day'")
            #expect(try await api.send(.photo(), to: path, headers: [ada.bearer]).status == 202)
        }
    }

    @Test(.api { $0.limits.photos = Rate(perMinute: 1, burst: 2) }) func `the rate of photos of an account is limited`() async throws {
        let ada = try await api.customer()
        _ = try await api.send("PUT", "/v1/topics/event:party/members/me", headers: [ada.bearer])
        for _ in 0..<2 { #expect(try await api.send(.photo(), to: path, headers: [ada.bearer]).status == 202) }
        #expect(try await api.send(.photo(), to: path, headers: [ada.bearer]).refusal == "429 rate_limited")
    }
}

private let path = "/v1/topics/event:party/photos"

extension IdentityFixture {
    /// Makes the owner of the event `party`.
    fileprivate func host() async throws -> Customer {
        let host = try await customer()
        _ = try await send("PUT", "/v1/topics/event:party/members/me", headers: [host.bearer])
        return host
    }
}

extension Form {
    static func photo(seed: Int = 1) -> Form {
        var form = Form()
        form.photos("photo", 1)
        return form.withLastPhoto(TestPhoto.jpeg(seed: seed))
    }

    /// Returns forms that are refused, with the expected error.
    static func badPhotos() -> [(form: Form, refusal: String)] {
        var two = Form.photo()
        two.photos("photo", 1)
        return [
            (Form.photo().withLastPhoto(Array("<svg/>".utf8)), "400 invalid_image photo"), (two, "400 invalid_request photo"),
            (Form(), "400 missing_field photo"),
            (Form.photo().withLastPhoto(TestPhoto.jpeg(width: 9_000, height: 9_000)), "400 invalid_image photo"),
            (Form.photo().withLastPhoto(TestPhoto.jpeg(scanBytes: 11 << 20)), "413 payload_too_large photo"),
        ]
    }
}
