import Foundation
import TestSupport
import Testing

/// Tests sign-ups and sign-ins that answer a challenge through the real executables.
@Suite struct ChallengeJourneyTests {
    @Test func `a user signs in with photos that show the poses of a challenge, which is good for once`() async throws {
        let phone = try await Phone.make(try await Stack.shared())
        let email = "ada-\(UUID().uuidString)@example.org"
        _ = try await phone.enrol(email: email)

        let challenge = try await phone.challenge()
        let signIn = try await phone.signIn(email: email, answering: .init(challenge))
        let recognition = try await phone.outcome(of: signIn)
        #expect(recognition["state"].text == "succeeded", "reason \(recognition["reason"])")
        #expect(recognition["liveness"].text == "passed")
        let grant = try await phone.redeem(signIn, email: email)
        #expect(grant.body["access_token"].text != nil)

        let again = try await phone.signIn(email: email, answering: .init(challenge))
        #expect(again.status == 409 && again.body["error"]["code"].text == "challenge_used")
    }

    @Test func `the right face gains nothing by photos in another order than that of the challenge`() async throws {
        let phone = try await Phone.make(try await Stack.shared())
        let email = "ben-\(UUID().uuidString)@example.org"
        _ = try await phone.enrol(email: email)
        let challenge = try await phone.challenge()
        let signIn = try await phone.signIn(email: email, answering: .init(challenge, showing: Self.otherOrder(challenge.poses)))
        let refusal = try await phone.outcome(of: signIn)
        #expect(refusal["reason"].text == "liveness_failed" && refusal["liveness"].text == "failed")
        let grant = try await phone.post("/api/v1/ekyc/sessions/\(signIn.sessionID)/token", bearer: signIn.sessionToken)
        #expect(grant.body["access_token"].text == nil && grant.status >= 400)
    }

    @Test func `a sign-up that answers a challenge enrols the face, and uses the challenge up`() async throws {
        let phone = try await Phone.make(try await Stack.shared())
        let email = "cem-\(UUID().uuidString)@example.org"
        let challenge = try await phone.challenge()
        let upload = try await phone.signUp(email: email, answering: .init(challenge))
        let record = try await phone.outcome(of: upload)
        #expect(record["state"].text == "succeeded", "\(challenge.poses): reason \(record["reason"])")
        #expect(record["liveness"].text == "passed")
        let verification = try #require(record["verification_id"].text)
        let verified = try await phone.verify(verification, code: try await phone.mailedCode(to: email))
        #expect(verified.body["data"]["user_id"].text != nil)

        let again = try await phone.signUp(email: "other-\(email)", answering: .init(challenge))
        #expect(again.status == 409 && again.body["error"]["code"].text == "challenge_used")
    }

    @Test func `a sign-up whose photos show the poses in another order fails, and enrols nothing`() async throws {
        let phone = try await Phone.make(try await Stack.shared())
        let email = "dan-\(UUID().uuidString)@example.org"
        let challenge = try await phone.challenge()
        let upload = try await phone.signUp(email: email, answering: .init(challenge, showing: Self.otherOrder(challenge.poses)))
        try await expectNoLife(upload, email, phone)
    }

    @Test func `the photos of one challenge answer no other`() async throws {
        let phone = try await Phone.make(try await Stack.shared())
        let email = "eva-\(UUID().uuidString)@example.org"
        let first = try await phone.challenge()
        let photos = try Photos.answer(first.poses)
        let upload = try await phone.signUp(email: email, answering: .init(first, photos: photos))
        #expect(try await phone.outcome(of: upload)["liveness"].text == "passed")

        // One that differs in its sides alone would be answered by the same photos from a camera that mirrors its pictures.
        let other = try await eventually("a challenge that asks for a turn at another place") {
            let challenge = try await phone.challenge()
            return Self.turns(challenge.poses) == Self.turns(first.poses) ? nil : challenge
        }
        let stranger = try await Phone.make(phone.stack)
        let replay = try await stranger.signUp(email: "copy-\(email)", answering: .init(other, photos: photos))
        try await expectNoLife(replay, "copy-\(email)", stranger)
    }

    @Test func `where challenges are required, an upload without one is refused`() async throws {
        let stack = try await Stack.start(settings: ["FACE_REQUIRE_CHALLENGE": "1"], services: ["identity-api"])
        let phone = try await Phone.make(stack)
        let refusals = [
            try await phone.signUp(email: "fay@example.org"), try await phone.signIn(email: "fay@example.org", faces: Photos.sameFace),
        ]
        for refusal in refusals {
            #expect(refusal.status == 400 && refusal.body["error"]["code"].text == "challenge_required")
        }
        #expect(try await phone.signUp(email: "fay@example.org", answering: .init(phone.challenge())).status == 200)
    }

    /// Expects that a sign-up fails because its photos do not answer the challenge: in the session and the push, and no code is mailed.
    private func expectNoLife(_ upload: Answer, _ email: String, _ phone: Phone) async throws {
        let record = try await phone.outcome(of: upload)
        #expect(record["state"].text == "failed" && record["reason"].text == "liveness_failed", "\(record)")
        #expect(record["liveness"].text == "failed" && record["retryable"] == .bool(true))
        let push = try await phone.pushes()[0]
        #expect(push["data"]["session_id"].text == upload.sessionID && push["data"]["success"].text == "false", "\(push)")
        #expect(try await phone.mailCount(to: email) == 0)
    }

    /// At which places a challenge asks for a turned head.
    private static func turns(_ poses: [String]) -> [Bool] { poses.map { ["left", "right"].contains($0) } }

    /// The poses in an order in which one who turns is asked to look straight on, or the other way round.
    private static func otherOrder(_ poses: [String]) -> [String] { Array(poses.dropFirst() + poses.prefix(1)) }
}
