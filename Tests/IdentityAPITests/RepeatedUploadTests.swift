import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Tests repeated uploads by a phone whose answer was lost: they belong to the same sign-up or sign-in.
@Suite struct RepeatedUploadTests {
    @Test(.api, arguments: [(Path.signUp, Form.signUp()), (Path.login, Form.signIn())])
    func `A repeated upload gets the first answer, and its session token works`(_ path: String, _ form: Form) async throws {
        let key = [("X-Request-ID", UUID().uuidString)]
        let first = try await api.send(form, to: path, headers: key)
        let files = api.storedFiles()
        let again = try await api.send(form.reordered(), to: path, headers: key)
        #expect(first.status == 200 && again.status == 200)
        #expect(again.text == first.text)
        #expect(first.header("Idempotent-Replayed") == nil && again.header("Idempotent-Replayed") == "true")
        let token = try #require(again.header("X-Session-Token"))
        #expect(token == first.header("X-Session-Token"))
        let id = try #require(UUID(uuidString: again.json.text("data.session_id") ?? ""))
        let status = try await api.send("GET", Path.session(id), headers: [("Authorization", "Bearer \(token)")])
        #expect(status.status == 200)
        #expect(try await api.count("sessions") == 1)
        #expect(try await api.count("outbox") == 1)
        #expect(api.storedFiles() == files, "the photos of the repetition are not kept")
    }

    @Test(.api) func `Other photos, or another phone, under the same key are refused`() async throws {
        let key = [("Idempotency-Key", "sign-in-1")]
        _ = try await api.send(.signIn(), to: Path.login, headers: key)
        let files = api.storedFiles()
        for other in [Form.signIn().withLastPhoto(TestPhoto.jpeg(seed: 99)), Form.signIn().with("fcm_token", Form.pushToken(of: 1))] {
            let refused = try await api.send(other, to: Path.login, headers: key)
            #expect(refused.status == 422)
            #expect(refused.json.text("error.code") == "idempotency_key_reused")
        }
        #expect(try await api.count("sessions") == 1)
        #expect(api.storedFiles() == files)
    }

    @Test(.api) func `A key belongs to one e-mail and one route, and is free again after ten minutes`() async throws {
        let key = [("Idempotency-Key", "k-1")]
        _ = try await api.send(.signIn(), to: Path.login, headers: key)
        #expect(try await api.send(.signIn(email: "other@example.org"), to: Path.login, headers: key).status == 200)
        #expect(try await api.send(.signUp(email: "known@example.org"), to: Path.signUp, headers: key).status == 200)
        #expect(try await api.count("sessions") == 3)
        let kept = "idempotency_keys WHERE expires_at BETWEEN now() + interval '9 minutes' AND now() + interval '10 minutes'"
        #expect(try await api.count(kept) == 3)
        try await api.postgres.execute("UPDATE idempotency_keys SET expires_at = now() - interval '1 second'")
        #expect(try await api.send(.signIn(), to: Path.login, headers: key).header("Idempotent-Replayed") == nil)
        #expect(try await api.count("sessions") == 4)
    }

    @Test(.api)
    func `One of several concurrent uploads with one key starts a session, and the others get its answer or are refused with 409`()
        async throws
    {
        let key = [("Idempotency-Key", "k-1")]
        let responses = try await race(6) { _ in try await api.send(.signIn(), to: Path.login, headers: key) }
        #expect(responses.allSatisfy { $0.status == 200 || $0.status == 409 })
        #expect(Set(responses.filter { $0.status == 200 }.map { $0.header("X-Session-Token") }).count == 1)
        #expect(try await api.count("sessions") == 1)
        #expect(api.storedFiles().count == 3)
    }

    @Test(.api) func `No session token is stored in plain text`() async throws {
        let answer = try await api.send(.signIn(), to: Path.login, headers: [("Idempotency-Key", "k-1")])
        let token = try #require(answer.header("X-Session-Token"))
        let rows = try await api.postgres.query("SELECT s::text || i::text AS all_of_it FROM sessions s, idempotency_keys i")
        #expect(try !rows[0].decode("all_of_it", as: String.self).contains(token))
    }

    // All uploads are for one account, so its rate limit is off.
    @Test(.api { $0.limits.account.perMinute = 0 })
    func `An upload repeated after its connection was cut anywhere starts one session and leaves no other photos`() async throws {
        // This seed cuts sign-ins 32 times while they are sent (in the head, each field and each photo), and 32 times in the answer.
        // Every fifth round is a sign-up, so that those are cut both ways too, 8 times each. More rounds cut the same places again.
        var random = SeededGenerator(seed: 15)
        for round in 0..<80 {
            let isSignUp = round.isMultiple(of: 5)
            let form = isSignUp ? Form.signUp() : Form.signIn()
            let path = isSignUp ? Path.signUp : Path.login
            let key = UUID().uuidString
            let head =
                "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Type: \(form.contentType)\r\nX-Request-ID: \(key)\r\n"
                + "Content-Length: \(form.bytes.count)\r\n\r\n"
            try await api.cut(Array(head.utf8) + form.bytes, whileSending: round.isMultiple(of: 2), &random)
            // The first request may still be in progress: apps retry after a 409.
            let answer = try await eventually("an answer") {
                let answer = try await api.send(form, to: path, headers: [("X-Request-ID", key)])
                return answer.status == 409 ? nil : answer
            }
            #expect(answer.status == 200)
            #expect(try await api.count("sessions") == 1)
            #expect(try await api.count("outbox") == 1)
            try await eventually("the photos of the other try are deleted") {
                api.storedFiles().count == (isSignUp ? 9 : 3)
            }
            try await api.postgres.execute("DELETE FROM sessions")
            try await api.postgres.execute("DELETE FROM outbox")
            try? FileManager.default.removeItem(atPath: api.blobRoot + "/ekyc")
        }
    }
}

extension Form {
    /// Returns the same form with the plain fields after the photos, and with another boundary.
    func reordered() -> Form {
        var form = self
        form.parts = parts.filter { $0.filename != nil } + parts.filter { $0.filename == nil }
        form.boundary = "another-boundary"
        return form
    }
}
