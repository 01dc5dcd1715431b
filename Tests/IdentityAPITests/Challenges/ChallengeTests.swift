import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Sign-ups and sign-ins whose photos answer a challenge.
@Suite struct ChallengeTests {
    private static let uploads = [(Path.login, Form.signIn()), (Path.signUp, Form.signUp().adding("challenge_photos", 3))]

    /// A challenge of the running API.
    private func challenge() async throws -> (token: String, poses: [String]) {
        let answer = try await api.send("POST", "/v1/ekyc/challenges")
        #expect(answer.status == 201)
        let poses = try #require(answer.json.value("data.poses")?.elements)
        return (try #require(answer.json.text("data.challenge_id")), poses.compactMap(\.string))
    }

    private func usedChallenges() async throws -> Int { try await api.count("used_challenges") }

    @Test(.api) func `a challenge has three poses, ends in 90 seconds, and is not cached`() async throws {
        let before = Date()
        let answer = try await api.send("POST", "/v1/ekyc/challenges")
        let end = try Date(try #require(answer.json.text("data.expires_at")), strategy: .iso8601)
        #expect(89...120 ~= end.timeIntervalSince(before))
        #expect(answer.json.value("data.poses")?.elements?.count == 3 && answer.header("Cache-Control") == "no-store")
        for body in ["{}", #"{"unknown":1}"#] {
            #expect(try await api.post("/v1/ekyc/challenges", body).status == 201)
        }
    }

    @Test(.api { $0.limits.challenges = Rate(perMinute: 0, burst: 1) })
    func `a flood of challenges writes nothing to the database`() async throws {
        let tables = try await api.postgres.query("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            .column("tablename", as: String.self)
        func rows() async throws -> [String: Int] {
            var rows: [String: Int] = [:]
            for table in tables { rows[table] = try await api.count(table) }
            return rows
        }
        let before = try await rows()
        #expect(before["used_challenges"] == 0)
        let answers = try await race(200) { _ in try await api.send("POST", "/v1/ekyc/challenges") }
        #expect(Set(answers.compactMap { $0.json.text("data.challenge_id") }).count == 200)
        #expect(try await rows() == before)
    }

    @Test(.api { $0.limits.challenges = Rate(perMinute: 1, burst: 2) })
    func `an address gets a limited number of challenges`() async throws {
        var answers: [String] = []
        for _ in 0..<3 { answers.append(try await api.send("POST", "/v1/ekyc/challenges").refusal) }
        #expect(answers == ["201 -", "201 -", "429 rate_limited"])
    }

    @Test(.api) func `a sign-in keeps the poses, and its photos in the order in which they were sent`() async throws {
        let challenge = try await challenge()
        let form = Form.signIn().with("challenge_id", challenge.token)
        let session = try await api.start(Path.login, form)
        let stored = try #require(try await SessionRepository(api.postgres).find(id: session.id))
        #expect(stored.challenge?.map(\.rawValue) == challenge.poses)
        #expect(stored.photos.map(\.pose) == [.any, .any, .any])
        var hashes: [String] = []
        for part in form.parts where part.name == "faces" { hashes.append(Hex.encode(SHA256.hash(part.data))) }
        #expect(stored.photos.map(\.sha256) == hashes)
        let bearer = [("Authorization", "Bearer \(session.token)")]
        #expect(try await api.send("GET", Path.session(session.id), headers: bearer).json.text("data.liveness") == "not_performed")
    }

    @Test(.api) func `a sign-up keeps three photos of the challenge beside its nine`() async throws {
        let challenge = try await challenge()
        let form = Form.signUp().adding("challenge_photos", 3).with("challenge_id", challenge.token)
        let session = try await api.start(Path.signUp, form)
        let stored = try #require(try await SessionRepository(api.postgres).find(id: session.id))
        #expect(stored.challenge?.map(\.rawValue) == challenge.poses && stored.photos.count == 12)
        let hashes = form.parts.filter { $0.name == "challenge_photos" }.map { Hex.encode(SHA256.hash($0.data)) }
        #expect(stored.photos.filter { $0.pose == .challenge }.map(\.sha256) == hashes)
        #expect(api.storedFiles().count == 12)
    }

    @Test(.api, arguments: uploads)
    func `a challenge starts one session`(_ path: String, _ form: Form) async throws {
        let form = form.with("challenge_id", try await challenge().token)
        let answers = try await race(4) { try await api.send(form.with("email", "person-\($0)@example.org"), to: path) }
        #expect(answers.map(\.refusal).sorted() == ["200 -"] + [String](repeating: "409 challenge_used challenge_id", count: 3))
        #expect(answers.first { $0.status == 409 }?.json.number("code") == 1_115)
        let used = try await usedChallenges()
        let sessions = try await api.count("sessions")
        #expect(used == 1 && sessions == 1)
        #expect(api.storedFiles().count == form.parts.count { $0.filename != nil }, "the photos of refused uploads are deleted")
    }

    @Test(.api) func `a challenge that a sign-in has answered starts no sign-up`() async throws {
        let token = try await challenge().token
        _ = try await api.start(Path.login, .signIn().with("challenge_id", token))
        let form = Form.signUp().adding("challenge_photos", 3).with("challenge_id", token)
        #expect(try await api.send(form, to: Path.signUp).refusal == "409 challenge_used challenge_id")
    }

    @Test(.api, arguments: uploads)
    func `a repetition gets the first answer, although its challenge is used`(_ path: String, _ form: Form) async throws {
        let key = [("Idempotency-Key", "k-1")]
        let form = form.with("challenge_id", try await challenge().token)
        let first = try await api.send(form, to: path, headers: key)
        let again = try await api.send(form.reordered(), to: path, headers: key)
        #expect(again.text == first.text && again.header("Idempotent-Replayed") == "true")
        #expect(again.header("X-Session-Token") == first.header("X-Session-Token"))
        let other = form.with("challenge_id", try await challenge().token)
        #expect(try await api.send(other, to: path, headers: key).refusal == "422 idempotency_key_reused")
        #expect(try await api.count("sessions") == 1)
    }

    @Test(.api, arguments: uploads)
    func `an upload whose challenge has ended is refused, and leaves nothing`(_ path: String, _ form: Form) async throws {
        let tokens = ChallengeTokens(sessionKey: try api.context.settings.sessionKey())
        let old = tokens.token(of: FaceChallenge(now: Date(timeIntervalSinceNow: -92)))
        let answer = try await api.send(form.with("challenge_id", old), to: path)
        #expect(answer.refusal == "409 challenge_expired challenge_id" && answer.json.number("code") == 1_114)
        #expect(try await api.isUntouched())
        #expect(try await usedChallenges() == 0)
    }

    @Test(.api, arguments: uploads)
    func `an upload with a forged challenge is refused, and leaves nothing`(_ path: String, _ form: Form) async throws {
        let token = try await challenge().token
        let other = ChallengeTokens(sessionKey: [UInt8](repeating: 9, count: 32)).token(of: FaceChallenge())
        for forged in [other, "x", (token.first == "A" ? "B" : "A") + token.dropFirst(), String(repeating: "A", count: 79)] {
            #expect(try await api.send(form.with("challenge_id", forged), to: path).refusal == "400 challenge_invalid challenge_id")
        }
        #expect(try await api.isUntouched())
    }

    @Test(.api { $0.requiresChallenge = true }, arguments: [(Path.login, Form.signIn()), (Path.signUp, Form.signUp())])
    func `where a challenge is required, an upload without one is refused`(_ path: String, _ form: Form) async throws {
        for form in [form, form.with("challenge_id", "")] {
            let answer = try await api.send(form, to: path)
            #expect(answer.refusal == "400 challenge_required challenge_id" && answer.json.number("code") == 1_012)
        }
        #expect(try await api.isUntouched())
        let token = try await challenge().token
        let answer = form.with("challenge_id", token).adding("challenge_photos", path == Path.signUp ? 3 : 0)
        #expect(try await api.send(answer, to: path).status == 200)
    }

    @Test(.api) func `an upload that was answered before challenges were required is repeatable after it`() async throws {
        let key = [("Idempotency-Key", "k-1")]
        let first = try await api.send(.signIn(), to: Path.login, headers: key)
        try await withSecondInstance(of: api) {
            $0.requiresChallenge = true
        } _: { newer in
            let again = try await newer.send(.signIn(), to: Path.login, headers: key)
            #expect(again.text == first.text && again.header("Idempotent-Replayed") == "true")
            #expect(try await newer.send(.signIn(), to: Path.login).refusal == "400 challenge_required challenge_id")
        }
    }

    @Test(
        .api,
        arguments: [
            (0, true, "missing_field challenge_photos"), (2, true, "invalid_photo_count challenge_photos"),
            (4, true, "invalid_photo_count challenge_photos"), (3, false, "missing_field challenge_id"),
        ])
    func `a sign-up has a challenge and three photos of it, or neither`(count: Int, isNamed: Bool, refusal: String) async throws {
        let form = Form.signUp().adding("challenge_photos", count)
        let named = isNamed ? form.with("challenge_id", try await challenge().token) : form
        #expect(try await api.send(named, to: Path.signUp).refusal == "400 \(refusal)")
        #expect(try await api.isUntouched())
        #expect(try await usedChallenges() == 0)
    }

    @Test(
        .api {
            $0.limits.undecidedSessions = .none; $0.limits.undecidedSessions.perInstallation = 1
        })
    func `an upload that is refused for another reason leaves its challenge unused`() async throws {
        let waiting = try await api.start(Path.login, .signIn(email: "another@example.org"))
        let form = Form.signIn().with("challenge_id", try await challenge().token)
        #expect(try await api.send(form, to: Path.login).status == 503)
        #expect(try await usedChallenges() == 0)
        try await api.decide(waiting.id, .failed(.noMatch))
        #expect(try await api.send(form, to: Path.login).status == 200)
    }

    @Test(.api) func `the sweeper forgets a used challenge when no upload can name it any more`() async throws {
        _ = try await api.start(Path.login, .signIn().with("challenge_id", try await challenge().token))
        let soon = "used_challenges WHERE expires_at BETWEEN now() + interval '20 minutes' AND now() + interval '22 minutes'"
        #expect(try await api.count(soon) == 1)
        try await api.sweep()
        #expect(try await usedChallenges() == 1)
        try await api.postgres.execute("UPDATE used_challenges SET expires_at = now() - interval '1 second'")
        try await api.sweep()
        #expect(try await usedChallenges() == 0)
    }
}
