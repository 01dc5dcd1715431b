import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Uploads with only the photos that a failed session has named.
@Suite struct RetakeTests {
    private static let email = "known@example.org"

    private typealias Started = (id: UUID, token: String)

    /// A sign-in that has failed by its second photo.
    private func failedSignIn(_ form: Form = .signIn(), headers: [(name: String, value: String)] = []) async throws -> Started {
        let session = try await api.start(Path.login, form, headers: headers)
        try await api.decide(session.id, .failed(.lowQuality), problems: [PhotoProblems(pose: .any, index: 1, problems: [.blurred])])
        return session
    }

    /// A form with new photos.
    private func retake(of session: Started, email: String = Self.email, photos: [(String, Int)] = [("faces", 1)]) -> Form {
        var form = Form.signIn(email: email).without("faces").with("retake_of", session.id.wireString)
        for (field, count) in photos { form.photos(field, count) }
        return form
    }

    private func token(_ session: Started) -> [(name: String, value: String)] { [("X-Session-Token", session.token)] }

    private func session(_ id: UUID) async throws -> Session { try #require(try await SessionRepository(api.postgres).find(id: id)) }

    @Test(.api) func `a failed session says until when its bad photos can be retaken`() async throws {
        let failed = try await failedSignIn()
        let until = try Date(try #require(try await api.status(failed).json.text("data.retake_until")), strategy: .iso8601)
        #expect(540...601 ~= until.timeIntervalSinceNow)
    }

    @Test(.api) func `a retake of a sign-in has its new photo in the place of the bad one, and copies of the others`() async throws {
        let failed = try await failedSignIn()
        let before = try await session(failed.id)
        let form = retake(of: failed)
        let started = try await api.start(Path.login, form, headers: token(failed))
        let after = try await session(started.id)
        let new = Hex.encode(SHA256.hash(try #require(form.parts.last).data))
        #expect(after.photos.map(\.sha256) == [before.photos[0].sha256, new, before.photos[2].sha256])
        #expect(after.seriesID == failed.id && after.photosKeptUntil == before.photosKeptUntil)
        let files = api.storedFiles().filter { $0.contains(started.id.wireString) }
        #expect(files.count == 3)
        #expect(Set(after.photos.map(\.key)).count == 3 && after.photos.allSatisfy { $0.key.contains(started.id.wireString) })
    }

    @Test(.api) func `photos of a sign-up take the places of the bad ones of each field`() async throws {
        let failed = try await api.start(Path.signUp, .signUp())
        let bad = [
            PhotoProblems(pose: .left, index: 0, problems: [.turnedTooFar]), PhotoProblems(pose: .left, index: 2, problems: [.blurred]),
            PhotoProblems(pose: .front, index: 1, problems: [.tooDark]),
        ]
        try await api.decide(failed.id, .failed(.lowQuality), problems: bad)
        let before = try await session(failed.id)
        var form = Form()
        form.text("email", "new@example.org")
        form.photos("front_faces", 1)
        form.photos("left_faces", 2)
        form.text("retake_of", failed.id.wireString)
        let after = try await session(try await api.start(Path.signUp, form, headers: token(failed)).id)
        let (front, left) = (form.parts[1].data, [form.parts[2].data, form.parts[3].data])
        var expected = before.photos.map(\.sha256)
        for (position, data) in [(0, left[0]), (2, left[1]), (7, front)] { expected[position] = Hex.encode(SHA256.hash(data)) }
        #expect(after.photos.map(\.sha256) == expected && after.photos.map(\.pose) == before.photos.map(\.pose))
    }

    @Test(.api) func `photos are retaken once, and the failed session gives its own up`() async throws {
        let failed = try await failedSignIn()
        let answers = try await race(4) { _ in try await api.send(retake(of: failed), to: Path.login, headers: token(failed)) }
        #expect(answers.map(\.refusal).sorted() == ["200 -"] + [String](repeating: "409 retake_unavailable retake_of", count: 3))
        #expect(try await session(failed.id).photosKeptUntil == nil)
        #expect(try await api.status(failed).json.text("data.retake_until") == nil)
        #expect(api.storedFiles().count == 6, "copies for refused retakes are deleted")
        let left = try await SessionRepository(api.postgres).leftoverPhotos(gracePeriod: .zero, limit: 10)
        #expect(left.map(\.sessionID) == [failed.id])
    }

    @Test(.api) func `a retake that fails is retaken in turn, within the ten minutes of the first failure`() async throws {
        let first = try await failedSignIn()
        let second = try await api.start(Path.login, retake(of: first), headers: token(first))
        try await api.decide(second.id, .failed(.noFace), problems: [PhotoProblems(pose: .any, index: 1, problems: [.noFace])])
        let third = try await api.start(Path.login, retake(of: second), headers: token(second))
        let (former, latter) = (try await session(second.id), try await session(third.id))
        #expect(latter.seriesID == first.id && former.seriesID == first.id)
        try await api.postgres.execute("UPDATE sessions SET photos_kept_until = now() WHERE id = \(third.id)")
        try await api.decide(third.id, .failed(.noFace), problems: [PhotoProblems(pose: .any, index: 1, problems: [.noFace])])
        #expect(try await session(third.id).photosKeptUntil == nil)
    }

    @Test(.api) func `a repetition of a retake gets the first answer`() async throws {
        let failed = try await failedSignIn()
        let (form, headers) = (retake(of: failed), token(failed) + [("Idempotency-Key", "retake-1")])
        let first = try await api.send(form, to: Path.login, headers: headers)
        let again = try await api.send(form, to: Path.login, headers: headers)
        #expect(first.status == 200 && again.status == 200)
        #expect(again.json.text("data.session_id") == first.json.text("data.session_id"))
        #expect(again.header("X-Session-Token") == first.header("X-Session-Token"))
        #expect(try await api.count("sessions") == 2)
    }

    @Test(.api) func `only the sender of the failed session can retake its photos`() async throws {
        let (signer, other) = (try DeviceSigner(), try DeviceSigner())
        func proof(_ device: DeviceSigner) throws -> [(name: String, value: String)] {
            [("DPoP", try device.proof(DeviceSigner.Claims("POST", "https://api.example.org\(Path.login)")))]
        }
        let failed = try await failedSignIn(headers: try proof(signer))
        let unavailable = "409 retake_unavailable retake_of"
        let tries: [(Form, [(name: String, value: String)], String)] = [
            (retake(of: failed), try proof(signer), "400 missing_field X-Session-Token"),
            (retake(of: failed), try proof(signer) + [("X-Session-Token", "null")], "400 missing_field X-Session-Token"),
            (retake(of: failed), try proof(signer) + [("X-Session-Token", "another")], unavailable),
            (retake(of: failed), token(failed), unavailable),
            (retake(of: failed), try proof(other) + token(failed), unavailable),
            (retake(of: failed, email: "other@example.org"), try proof(signer) + token(failed), unavailable),
            (retake(of: (UUID(), failed.token)), try proof(signer) + token(failed), unavailable),
            (retake(of: failed).with("retake_of", "x"), try proof(signer) + token(failed), unavailable),
        ]
        for (form, headers, refusal) in tries {
            #expect(try await api.send(form, to: Path.login, headers: headers).refusal == refusal)
        }
        var signUp = Form.signUp(email: Self.email).without("left_faces").without("right_faces").without("front_faces")
        signUp.photos("front_faces", 1)
        let refusal = try await api.send(signUp.with("retake_of", failed.id.wireString), to: Path.signUp, headers: token(failed)).refusal
        #expect(refusal == unavailable)
        #expect(try await api.count("sessions") == 1 && api.storedFiles().count == 3)
        #expect(try await api.send(retake(of: failed), to: Path.login, headers: try proof(signer) + token(failed)).status == 200)
    }

    @Test(.api) func `a retake has exactly the photos that were named`() async throws {
        let failed = try await failedSignIn()
        for (photos, refusal) in [
            ([("faces", 2)], "400 invalid_photo_count faces"), ([("faces", 3)], "400 invalid_photo_count faces"),
            ([], "400 missing_field faces"),
        ] {
            #expect(try await api.send(retake(of: failed, photos: photos), to: Path.login, headers: token(failed)).refusal == refusal)
        }
        #expect(try await session(failed.id).photosKeptUntil != nil, "a wrong form does not use the photos up")
    }

    @Test(.api) func `nothing is retaken of a session that has not failed by some of its photos, or whose time is over`() async throws {
        let photo = [PhotoProblems(pose: .any, index: 1, problems: [.blurred])]
        let all = (0..<3).map { PhotoProblems(pose: .any, index: $0, problems: [.blurred]) }
        let outcomes: [(SessionOutcome?, [PhotoProblems])] = [
            (nil, []), (.succeeded, []), (.failed(.noMatch), photo), (.failed(.inconsistentFaces), []), (.failed(.lowQuality), all),
        ]
        for (outcome, problems) in outcomes {
            let session = try await api.start(Path.login, .signIn())
            if let outcome { try await api.decide(session.id, outcome, problems: problems) }
            let answer = try await api.send(retake(of: session), to: Path.login, headers: token(session))
            #expect(answer.refusal == "409 retake_unavailable retake_of", "\(String(describing: outcome))")
        }
        let failed = try await failedSignIn()
        try await api.postgres.execute("UPDATE sessions SET photos_kept_until = now() WHERE id = \(failed.id)")
        let answer = try await api.send(retake(of: failed), to: Path.login, headers: token(failed))
        #expect(answer.refusal == "409 retake_unavailable retake_of")
    }

    @Test(.api { $0.requiresChallenge = true })
    func `a retake answers the challenge of the failed session`() async throws {
        let challenge = try #require(try await api.send("POST", "/v1/ekyc/challenges").json.text("data.challenge_id"))
        let failed = try await failedSignIn(Form.signIn().with("challenge_id", challenge))
        let another = try await api.send(retake(of: failed).with("challenge_id", challenge), to: Path.login, headers: token(failed))
        #expect(another.refusal == "400 invalid_request challenge_id")
        let retaken = try await api.start(Path.login, retake(of: failed), headers: token(failed))
        #expect(try await session(retaken.id).challenge == session(failed.id).challenge)
    }

    @Test(.api) func `the photos of a challenge of a sign-up are retaken in their places`() async throws {
        let challenge = try #require(try await api.send("POST", "/v1/ekyc/challenges").json.text("data.challenge_id"))
        let form = Form.signUp().adding("challenge_photos", 3).with("challenge_id", challenge)
        let failed = try await api.start(Path.signUp, form)
        try await api.decide(failed.id, .failed(.noFace), problems: [PhotoProblems(pose: .challenge, index: 1, problems: [.noFace])])
        let before = try await session(failed.id)
        var new = Form()
        // Nothing but the token proves the sender of a sign-up without a proof: its e-mail is erased with the decision.
        new.text("email", "another@example.org")
        new.text("retake_of", failed.id.wireString)
        new.photos("challenge_photos", 1)
        let after = try await session(try await api.start(Path.signUp, new, headers: token(failed)).id)
        var expected = before.photos.map(\.sha256)
        expected[10] = Hex.encode(SHA256.hash(try #require(new.parts.last).data))
        #expect(after.photos.map(\.sha256) == expected && after.challenge == before.challenge && after.challenge != nil)
    }

    @Test(.api) func `a retake whose kept photo is gone is refused, and leaves nothing`() async throws {
        let failed = try await failedSignIn()
        let files = api.storedFiles()
        let first = try #require(files.first { $0.hasSuffix("/1") })
        try FileManager.default.removeItem(atPath: api.blobRoot + "/" + first)
        let answer = try await api.send(retake(of: failed), to: Path.login, headers: token(failed))
        #expect(answer.refusal == "409 retake_unavailable retake_of")
        #expect(api.storedFiles() == files.filter { $0 != first })
    }

    @Test(.api { $0.limits.account = Rate(perMinute: 1, burst: 1) })
    func `a limit refuses a retake before its photos are copied`() async throws {
        let failed = try await failedSignIn()
        let answer = try await api.send(retake(of: failed), to: Path.login, headers: token(failed))
        #expect(answer.refusal == "429 rate_limited")
        let copies = try await api.postgres.query("SELECT copy_count FROM sessions")[0].decode("copy_count", as: Int16.self)
        #expect(copies == 0)
    }

    @Test(.api) func `a session without a challenge is not retaken once challenges are required`() async throws {
        let failed = try await failedSignIn()
        try await withSecondInstance(of: api) {
            $0.requiresChallenge = true
        } _: { second in
            let answer = try await second.send(retake(of: failed), to: Path.login, headers: token(failed))
            #expect(answer.refusal == "400 challenge_required challenge_id")
        }
    }

    @Test(.api) func `an empty retake_of is ignored`() async throws {
        for text in ["", "null"] { _ = try await api.start(Path.login, Form.signIn().with("retake_of", text)) }
        let empty = Form.signIn().without("faces").with("retake_of", "")
        #expect(try await api.send(empty, to: Path.login).refusal == "400 missing_field faces")
    }

    @Test(.api)
    func `kept photos are deleted a minute after their time, and photos of a retaken session like others`()
        async throws
    {
        let (kept, taken) = (try await failedSignIn(), try await failedSignIn())
        _ = try await api.start(Path.login, retake(of: taken), headers: token(taken))
        try await api.postgres.execute("UPDATE sessions SET completed_at = now() - interval '2 minutes' WHERE state = 'failed'")
        let sessions = SessionRepository(api.postgres)
        #expect(try await sessions.leftoverPhotos(gracePeriod: .seconds(60), limit: 10).map(\.sessionID) == [taken.id])
        try await api.postgres.execute("UPDATE sessions SET photos_kept_until = now() - interval '2 minutes' WHERE id = \(kept.id)")
        let due = try await sessions.leftoverPhotos(gracePeriod: .seconds(60), limit: 10).map(\.sessionID)
        #expect(Set(due) == [kept.id, taken.id])
    }
}
