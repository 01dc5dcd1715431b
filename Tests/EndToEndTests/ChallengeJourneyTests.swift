import Foundation
import TestSupport
import Testing

/// Tests sign-ins that answer a challenge through the real executables.
@Suite struct ChallengeJourneyTests {
    /// Views of a head by the pose that they show. There is none that is nearer.
    private static let views = ["left": "person-a/left-3", "front": "person-a/front-1", "right": "person-a/right-3"]

    @Test func `a user signs in with photos that show the poses of a challenge, which is good for once`() async throws {
        let phone = try await Phone.make(try await Stack.shared())
        let email = "ada-\(UUID().uuidString)@example.org"
        _ = try await phone.enrol(email: email)

        let challenge = try await phone.challenge()
        let photos = try Self.photos(challenge.poses)
        let signIn = try await phone.signIn(email: email, photos: photos, challenge: challenge.id)
        let recognition = try await phone.outcome(of: signIn)
        #expect(recognition["state"].text == "succeeded", "reason \(recognition["reason"])")
        #expect(recognition["liveness"].text == "passed")
        let grant = try await phone.post("/api/v1/ekyc/sessions/\(signIn.sessionID)/token", bearer: signIn.sessionToken)
        #expect(grant.body["access_token"].text != nil)

        let again = try await phone.signIn(email: email, photos: try Self.photos(challenge.poses), challenge: challenge.id)
        #expect(again.status == 409 && again.body["error"]["code"].text == "challenge_used")
    }

    @Test func `the right face gains nothing by photos in another order than that of the challenge`() async throws {
        let phone = try await Phone.make(try await Stack.shared())
        let email = "ben-\(UUID().uuidString)@example.org"
        _ = try await phone.enrol(email: email)
        let challenge = try await phone.challenge()
        // A turned head stands where the front is asked for.
        let photos = try Self.photos(challenge.poses.dropFirst() + challenge.poses.prefix(1))
        let signIn = try await phone.signIn(email: email, photos: photos, challenge: challenge.id)
        let refusal = try await phone.outcome(of: signIn)
        #expect(refusal["reason"].text == "liveness_failed" && refusal["liveness"].text == "failed")
        let grant = try await phone.post("/api/v1/ekyc/sessions/\(signIn.sessionID)/token", bearer: signIn.sessionToken)
        #expect(grant.body["access_token"].text == nil && grant.status >= 400)
    }

    /// Photos that show these poses, in files that were not sent before.
    private static func photos(_ poses: some Sequence<String>) throws -> [[UInt8]] {
        try poses.map { try Photos.load(try #require(views[$0]), comment: UUID().uuidString) }
    }
}

extension Phone {
    /// Asks for challenges until one has poses of which there are photos, as a third of them has.
    fileprivate func challenge() async throws -> (id: String, poses: [String]) {
        try await eventually("a challenge without nearer") {
            let data = try await post("/v1/ekyc/challenges").body["data"]
            let poses = data["poses"].elements.compactMap(\.text)
            guard let id = data["challenge_id"].text, poses.count == 3, !poses.contains("nearer") else { return nil }
            return (id, poses)
        }
    }
}
