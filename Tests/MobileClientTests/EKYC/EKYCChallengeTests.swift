import Foundation
import Testing

@testable import MobileClient

/// Challenges from the question to the outcome.
@Suite struct EKYCChallengeTests {
    private let phone: EKYCPhone
    private let challenge = EKYCClient.Challenge(id: "challenge-1", poses: [.front, .left, .nearer], expiresAt: Date())

    init() throws { phone = try EKYCPhone() }

    private func answer(expiresAt: String, timestamp: String? = "2027-01-15T08:00:00Z") -> TransportResponse {
        let meta = timestamp.map { #","meta":{"requestId":"r","timestamp":"\#($0)"}"# } ?? ""
        return .json(#"{"data":{"challenge_id":"c","poses":["front","left","nearer"],"expires_at":"\#(expiresAt)"}\#(meta)}"#)
    }

    @Test func `the time for a challenge does not depend on the clock of the device`() throws {
        let challenge = try EKYCRequests.challenge().decode(answer(expiresAt: "2027-01-15T08:01:30Z"))
        #expect(challenge.validFor == .seconds(90) && challenge.poses == [.front, .left, .nearer])
        #expect(try EKYCRequests.challenge().decode(answer(expiresAt: "2027-01-15T07:00:00Z")).validFor == .zero)
        #expect(try EKYCRequests.challenge().decode(answer(expiresAt: "2037-01-15T08:00:00Z")).validFor == .seconds(3_600))
        #expect(throws: (any Error).self) {
            try EKYCRequests.challenge().decode(answer(expiresAt: "2027-01-15T08:01:30Z", timestamp: nil))
        }
    }

    @Test func `an upload names its challenge, and has the photos in the order of its poses`() async throws {
        let process = phone.launch(isInstant: true)
        _ = await (try process.client.signIn(EKYCPhone.faces, email: "a@b.example", answering: challenge)).taken()
        let answer = EKYCClient.ChallengeAnswer(challenge, photos: EKYCPhone.faces)
        _ = await (try process.client.signUp(EKYCPhone.poses, email: "a@b.example", answering: answer)).taken()
        let uploads = await process.sender.sent.filter { $0.path.hasSuffix("login") || $0.path.hasSuffix("upload-photos") }
        #expect(uploads.count == 2)
        for (upload, field) in zip(uploads, ["faces", "challenge_photos"]) {
            let body = try #require(upload.body)
            #expect(body.range(of: Data("name=\"challenge_id\"\r\n\r\nchallenge-1\r\n".utf8)) != nil)
            let places = (1...3).compactMap { body.range(of: Data("name=\"\(field)\"; filename=\"\($0).jpg\"".utf8))?.lowerBound }
            #expect(places.count == 3 && places == places.sorted())
        }
    }

    private func result(_ plan: @escaping (inout EKYCServer.Plan) -> Void) async throws -> EKYCSession.Outcome {
        phone.server.plan(plan)
        let process = phone.launch(isInstant: true)
        let outcome = try await process.client.signIn(EKYCPhone.faces, email: "a@b.example", answering: challenge).taken()
        #expect(phone.leftovers == [])
        return outcome
    }

    @Test(arguments: ["passed", "failed", "not_performed", "a_result_of_a_later_version"])
    func `a failure has the result of the check for a live person`(liveness: String) async throws {
        let reason = liveness == "failed" ? "liveness_failed" : "no_match"
        let outcome = try await result {
            $0.decision = #""state":"failed","reason":"\#(reason)","liveness":"\#(liveness)","retryable":true"#
        }
        let failure = EKYCSession.Failure(.init(rawValue: reason), isRetryable: true, liveness: .init(rawValue: liveness))
        #expect(outcome == .failed(failure) && outcome.asksForChallenge == (liveness == "failed"))
    }

    @Test(arguments: [HeliographError.Code.challengeRequired, .challengeInvalid, .challengeExpired, .challengeUsed])
    func `a challenge that is refused asks for another one, also after an upload without an answer`(
        code: HeliographError.Code
    ) async throws {
        let error = EKYCServer.refusal([.challengeExpired, .challengeUsed].contains(code) ? 409 : 400, code, field: "challenge_id")
        for refusals in [[error], [EKYCServer.lost, error]] {
            let outcome = try await result { $0.uploadRefusals = refusals }
            #expect(outcome == .refused(error) && outcome.asksForChallenge)
        }
        #expect(phone.server.sessions.isEmpty)
    }

    @Test func `an upload whose answer is lost gets it again after the end of its challenge`() async throws {
        let outcome = try await result { $0.uploadAnswersLost = 1 }
        #expect(outcome == .signedIn(userID: "user-1") && !outcome.asksForChallenge)
        #expect(phone.server.sessions.count == 1)
    }
}
