import Foundation
import TestSupport
import Testing

/// Retakes of sign-ups and sign-ins through the real executables.
@Suite struct RetakeJourneyTests {
    private static let noFace = "cases/no-face"

    @Test func `a person retakes one photo of nine, and one of three, and has an account and its tokens`() async throws {
        let phone = try await Phone.make(try await Stack.shared())
        let email = "retake-\(UUID().uuidString)@example.org"
        let upload = try await phone.signUp(email: email, front: [Photos.front[0], Self.noFace, Photos.front[2]])
        let refusal = try await phone.outcome(of: upload)
        let named = refusal["photos"].elements.map { photo in
            "\(photo["field"].text ?? "-") \(photo["index"].number ?? -1) \(photo["problems"].elements.compactMap(\.text))"
        }
        #expect(named == [#"front_faces 1.0 ["no_face"]"#])
        let front = try Photos.load(Photos.front[1])
        let signUp = try await phone.retake(upload, of: "sign_up", email: email, with: [("front_faces", front)])
        let record = try await phone.outcome(of: signUp)
        #expect(record["state"].text == "succeeded", "reason \(record["reason"])")
        let verification = try #require(record["verification_id"].text)
        _ = try await phone.verify(verification, code: try await phone.mailedCode(to: email, for: record["reference"].text))

        let failed = try await phone.signIn(email: email, faces: [Photos.sameFace[0], Self.noFace, Photos.sameFace[2]])
        #expect(try await phone.outcome(of: failed)["retake_until"].text != nil)
        let photo = try Photos.load(Photos.sameFace[1])
        let signIn = try await phone.retake(failed, of: "sign_in", email: email, with: [("faces", photo)])
        #expect(try await phone.outcome(of: signIn)["state"].text == "succeeded")
        #expect(try await phone.redeem(signIn, email: email).body["access_token"].text != nil)
        let again = try await phone.retake(failed, of: "sign_in", email: email, with: [("faces", photo)])
        #expect(again.status == 409 && again.body["error"]["code"].text == "retake_unavailable")
    }

    @Test func `kept photos are deleted in time although every service is killed, and a retake that is cut off begins one session`()
        async throws
    {
        let stack = try await Stack.start()
        let phone = try await Phone.make(stack)
        let email = "kept-\(UUID().uuidString)@example.org"
        func fail(_ comment: String) async throws -> Answer {
            let faces = [Photos.sameFace[0], Self.noFace, Photos.sameFace[2]]
            let failed = try await phone.signIn(email: email, faces: faces, comment: comment)
            #expect(try await phone.outcome(of: failed)["reason"].text == "no_face")
            return failed
        }
        let failed = try await fail("first")
        let (photo, key) = (try Photos.load(Photos.otherFace[0]), UUID().uuidString)
        async let killed: Void = restart(["identity-api", "face-matching-worker"], of: stack)
        let retake = try await eventually("the API answers") {
            let answer = try? await phone.retake(failed, of: "sign_in", email: email, with: [("faces", photo)], key: key)
            return answer?.status == 200 ? answer : nil
        }
        try await killed
        #expect(try await phone.outcome(of: retake)["reason"].text == "inconsistent_faces")
        #expect(try await stack.database.psql("SELECT count(*) FROM sessions WHERE series_id IS NOT NULL") == "1")

        _ = try await fail("second")
        let kept = "SELECT count(*) FROM sessions WHERE photos_kept_until > now()"
        #expect(try await stack.database.psql(kept) == "1")
        for service in ["identity-api", "face-matching-worker"] { await stack.kill(service) }
        #expect(stack.blobCount() >= 2)
        // A retake has taken the photos of the first failed session, which are deleted like photos of a worker that died.
        let past = "now() - interval '61 seconds'"
        try await stack.database.psql("UPDATE sessions SET photos_kept_until = \(past) WHERE photos_kept_until IS NOT NULL")
        try await stack.database.psql("UPDATE sessions SET completed_at = \(past)")
        try stack.launch("identity-api")
        try await eventually("the kept photos are deleted") { stack.blobCount() == 0 }
    }

    private func restart(_ services: [String], of stack: Stack) async throws {
        for service in services {
            await stack.kill(service)
            try stack.launch(service)
        }
        for service in services { try await stack.waitUntilReady(service) }
    }
}
