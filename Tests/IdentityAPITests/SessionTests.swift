import Accounts
import EventBus
import Foundation
import HTTPClient
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

extension IdentityFixture {
    /// Decides a session as the worker does, without an event or a push. A successful sign-up creates the account, but no face.
    func decide(_ id: UUID, _ outcome: SessionOutcome, problems: [PhotoProblems] = []) async throws {
        if outcome == .succeeded, let session = try await SessionRepository(postgres).find(id: id), let email = session.email {
            _ = try await postgres.makeUser(id: session.userID, emailLookup: email.lookups[0], emailSealed: email.sealed)
        }
        #expect(try await SessionRepository(postgres).complete(id: id, outcome: outcome, problems: problems))
    }

    /// Creates the account of an e-mail.
    func signUp(_ email: String) async throws {
        try await decide(try await start(Path.signUp, .signUp(email: email)).id, .succeeded)
    }

    func status(_ session: (id: UUID, token: String), query: String = "") async throws -> HTTPClientResponse {
        try await send("GET", Path.session(session.id) + query, headers: [("Authorization", "Bearer \(session.token)")])
    }

    func announce(_ id: UUID) async throws {
        let event = EkycCompleted(sessionID: id, event: .signIn, succeeded: true)
        _ = try await context.transport.append([OutgoingEntry(stream: event.stream, envelope: try Envelope(event).encoded())])
    }
}

@Suite struct SessionTests {
    @Test(.api) func `The body of a received session is exact`() async throws {
        let session = try await api.start()
        let response = try await api.status(session)
        let created = try #require(response.json.text("data.created_at"))
        let expires = try #require(response.json.text("data.expires_at"))
        #expect(
            response.text == #"{"success":true,"code":0,"message":"Session found","data":{"#
                + #""session_id":"\#(session.id.wireString)","event":"sign_in","state":"received","#
                + #""liveness":"not_performed","created_at":"\#(created)","expires_at":"\#(expires)"}}"#)
        #expect(created.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
    }

    @Test(.api) func `A failed session has its reason, whether it is retryable, and the attempts left`() async throws {
        let session = try await api.start()
        try await api.decide(session.id, .failed(.noMatch))
        let data = try await api.status(session).json
        #expect(data.text("data.state") == "failed")
        #expect(data.text("data.reason") == "no_match")
        #expect(data.value("data.retryable") == true)
        #expect(data.number("data.attempts_left") == 4)
        #expect(data.text("data.completed_at") != nil)
    }

    @Test(.api) func `A failed session names its bad photos by the fields of the form, for what the photos alone show`() async throws {
        let problems = [
            PhotoProblems(pose: .left, index: 0, problems: [.tooDark, .turnedTooLittle]),
            .init(pose: .right, index: 2, problems: [.noFace]),
            .init(pose: .front, index: 1, problems: [.blurred]), .init(pose: .challenge, index: 2, problems: [.severalFaces]),
        ]
        let signUp = try await api.start(Path.signUp, .signUp())
        try await api.decide(signUp.id, .failed(.lowQuality), problems: problems)
        let text = try await api.status(signUp).text
        #expect(
            text.contains(
                #""reason":"low_quality","photos":[{"field":"left_faces","index":0,"problems":["too_dark","turned_too_little"]},"#
                    + #"{"field":"right_faces","index":2,"problems":["no_face"]},{"field":"front_faces","index":1,"problems":["blurred"]},"#
                    + #"{"field":"challenge_photos","index":2,"problems":["several_faces"]}],"#))
        for (reason, isNamed) in [(SessionReason.noFace, true), (.noMatch, false), (.replayedImage, false), (.livenessFailed, false)] {
            let signIn = try await api.start(Path.login, .signIn(email: "\(reason.rawValue)@example.org"))
            try await api.decide(signIn.id, .failed(reason), problems: [.init(pose: .any, index: 1, problems: [.noFace])])
            let answer = try await api.status(signIn).text
            #expect(answer.contains(#""photos":[{"field":"faces","index":1,"problems":["no_face"]}]"#) == isNamed, "\(reason)")
            #expect(answer.contains("photos") == isNamed, "\(reason)")
        }
    }

    @Test(.api) func `A session that succeeded has no reason`() async throws {
        let session = try await api.start(Path.signUp, .signUp())
        try await api.decide(session.id, .succeeded)
        let data = try await api.status(session).json
        #expect(data.text("data.state") == "succeeded")
        #expect(data.value("data.reason") == nil && data.value("data.attempts_left") == nil)
    }

    @Test(.api) func `Only the device that started a session sees it`() async throws {
        let session = try await api.start()
        let other = try await api.start()
        #expect(try await api.status((session.id, other.token)).refusal == "401 unauthorized")
        #expect(try await api.send("GET", Path.session(session.id)).refusal == "401 unauthorized")
        #expect(try await api.status((UUID(), session.token)).refusal == "404 session_not_found")
        let odd = try await api.send("GET", "/api/v1/ekyc/sessions/nonsense", headers: [("Authorization", "Bearer x")])
        #expect(odd.refusal == "404 session_not_found")
    }

    @Test(.api) func `A waiting request is answered as soon as the event arrives`() async throws {
        let session = try await api.start()
        async let answer = api.status(session, query: "?wait=60")
        try await eventually("the request waits") { api.waiters.count == 1 }
        try await api.decide(session.id, .succeeded)
        // A broadcast before the reader listens is lost, so it is repeated until the request is answered.
        let announcing = Task {
            while !Task.isCancelled {
                try await api.announce(session.id)
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        #expect(try await answer.json.text("data.state") == "succeeded")
        announcing.cancel()
    }

    @Test(.api) func `A waiting request is answered even though the event is lost`() async throws {
        let session = try await api.start()
        async let answer = api.status(session, query: "?wait=60")
        try await eventually("the request waits") { api.waiters.count == 1 }
        let decided = ContinuousClock.now
        try await api.decide(session.id, .succeeded)
        #expect(try await answer.json.text("data.state") == "succeeded")
        #expect(ContinuousClock.now - decided < .seconds(59))
    }

    @Test(.api) func `A request waits no longer than its wait parameter`() async throws {
        let session = try await api.start()
        let started = ContinuousClock.now
        #expect(try await api.status(session, query: "?wait=1").json.text("data.state") == "received")
        #expect(ContinuousClock.now - started >= .seconds(1))
        for wait in ["-1", "61", "soon"] {
            #expect(try await api.status(session, query: "?wait=\(wait)").refusal == "400 invalid_request wait")
        }
    }

    @Test(.api { $0.waiters = 0 }) func `A request gets the state at once when too many are waiting`() async throws {
        let session = try await api.start()
        let response = try await api.status(session, query: "?wait=60")
        #expect(response.status == 200)
        #expect(response.json.text("data.state") == "received")
    }

    @Test(.api) func `Five failed sign-ins lock an account for a minute, whether it exists or not`() async throws {
        try await api.signUp("known@example.org")
        for email in ["known@example.org", "nobody@example.org"] {
            for left in [4, 3, 2, 1, 0] {
                let session = try await api.start(Path.login, .signIn(email: email))
                try await api.decide(session.id, .failed(.noMatch))
                let data = try await api.status(session).json
                #expect(data.number("data.attempts_left") == left && data.value("data.retryable") == .bool(left > 0))
                #expect((data.text("data.retry_at") == nil) == (left > 0))
            }
            let files = api.storedFiles().count
            let response = try await api.send(.signIn(email: email), to: Path.login)
            #expect(response.refusal == "429 account_locked")
            let retryAfter = try #require(Int(response.header("Retry-After") ?? ""))
            #expect((30...60).contains(retryAfter))
            #expect(response.json.number("error.attempts_left") == 0 && response.json.value("error.retryable") == false)
            #expect(api.storedFiles().count == files)
        }
        #expect(try await api.send(.signIn(email: "third@example.org"), to: Path.login).status == 200)
    }

    @Test(.api) func `Polling a failed sign-in discloses neither the account nor a sign-in of its owner`() async throws {
        _ = try await api.signedInDevice(email: "known@example.org")
        var seen: [[Int?]] = []
        for email in ["known@example.org", "nobody@example.org"] {
            func attempt() async throws -> (id: UUID, token: String) {
                let form = Form.signIn(email: email).with("fcm_token", "c3cccccccccccccccccccc:APA91bExampleToken")
                let session = try await api.start(Path.login, form)
                try await api.decide(session.id, .failed(.noMatch))
                return session
            }
            let first = try await attempt()
            var left = [try await api.status(first).json.number("data.attempts_left")]
            if email == "known@example.org" { _ = try await api.signIn(email: email) }
            left.append(try await api.status(first).json.number("data.attempts_left"))
            left.append(try await api.status(try await attempt()).json.number("data.attempts_left"))
            seen.append(left)
        }
        #expect(seen == [[4, 4, 3], [4, 4, 3]])
    }

    @Test(.api { $0.limits.account = Rate(perMinute: 1, burst: 20) })
    func `The owner signs in from a known device while others keep failing on the same e-mail`() async throws {
        _ = try await api.signedInDevice()
        var refusals: [String: Int] = [:]
        for number in 0..<60 {
            let token = Form.pushToken(of: number)
            let response = try await api.send(.signIn().with("fcm_token", token), to: Path.login)
            if response.status == 200, let id = UUID(uuidString: response.json.text("data.session_id") ?? "") {
                try await api.decide(id, .failed(.noMatch))
            } else {
                refusals[response.refusal, default: 0] += 1
            }
            if number.isMultiple(of: 20) { _ = try await api.signIn() }
        }
        #expect(refusals.values.reduce(0, +) == 55)
        #expect(Set(refusals.keys) == ["429 account_locked", "429 rate_limited"])
        let mistaken = try await api.start()
        try await api.decide(mistaken.id, .failed(.noMatch))
        #expect(try await api.status(mistaken).json.number("data.attempts_left") == 4)
    }

    @Test(.api) func `A burst of sign-ins is refused until earlier ones are decided, and locks no account`() async throws {
        let answers = try await race(12) { _ in try await api.send(.signIn(), to: Path.login).status }
        #expect(answers.sorted() == Array(repeating: 200, count: 5) + Array(repeating: 503, count: 7))
        let refused = try await api.send(.signIn(), to: Path.login)
        #expect(refused.refusal == "503 overloaded" && refused.header("Retry-After") == "2")
        for session in try await api.postgres.query("SELECT id FROM sessions WHERE event = 'sign_in'") {
            try await api.decide(session.decode("id"), .succeeded)
        }
        #expect(try await api.send(.signIn(), to: Path.login).status == 200)
    }

    @Test(.api) func `Overdue sessions expire with one push, and their photos are deleted`() async throws {
        let session = try await api.start(Path.signUp, .signUp())
        let open = try await api.start()
        try await api.postgres.execute(
            "UPDATE sessions SET deadline_at = now() - interval '1 second' WHERE id = \(session.id)")
        try await api.postgres.execute("DELETE FROM outbox")
        let sweeper = IdentityAPI.sweeper(
            postgres: api.context.postgres, photos: try api.context.blobStore(.faces),
            pseudonyms: SessionPseudonyms(sessionKey: try api.context.settings.sessionKey()), interval: .seconds(1),
            logger: api.context.logger)
        for _ in 0..<2 { await sweeper.sweep() }
        let data = try await api.status(session).json
        #expect(data.text("data.state") == "expired")
        #expect(data.text("data.reason") == "timeout")
        #expect(data.value("data.retryable") == true)
        #expect(try await api.status(open).json.text("data.state") == "received")
        #expect(api.storedFiles().allSatisfy { $0.contains(open.id.wireString) })
        let rows = try await api.postgres.query("SELECT type, convert_from(body, 'UTF8') AS body FROM outbox ORDER BY id")
        #expect(try rows.map { try $0.decode("type", as: String.self) } == ["ekyc.completed", "notification.requested"])
        let push = try JSONValue(parsing: Array(rows[1].decode("body", as: String.self).utf8))
        #expect(push.text("dedupe_key") == "ekyc:\(session.id.wireString)")
        #expect(push.text("kind") == "sign_up")
        #expect(push.value("content.success") == false)
        let account = try #require(try await SessionRepository(api.postgres).find(id: session.id)).userID
        let named = try #require(push.text("content.user_id").flatMap { UUID(uuidString: $0) })
        #expect(named != account)
    }
}
