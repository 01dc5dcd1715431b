import Foundation
import Testing

@testable import MobileClient

/// How sessions end other than by success.
@Suite struct EKYCEndTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    private func result(_ plan: @escaping (inout EKYCServer.Plan) -> Void) async throws -> EKYCSession.Outcome {
        phone.server.plan(plan)
        let process = phone.launch(isInstant: true)
        let outcome = try await process.client.signIn(EKYCPhone.faces, email: "a@b.example").taken()
        #expect(try await process.client.pending().isEmpty)
        #expect(phone.leftovers == [])
        return outcome
    }

    static let reasons = [
        "no_face", "multiple_faces", "face_too_small", "low_quality", "invalid_image", "pose_mismatch", "inconsistent_faces",
        "duplicate_images", "replayed_image", "no_match", "already_enrolled", "face_in_use", "timeout", "internal",
        "a_reason_of_a_later_version",
    ]

    @Test(arguments: reasons) func `a failure has the reason of the API`(reason: String) async throws {
        let outcome = try await result { $0.decision = #""state":"failed","reason":"\#(reason)","retryable":false,"attempts_left":3"# }
        let expected = EKYCSession.Failure(EKYCSession.Reason(rawValue: reason), isRetryable: false, attemptsLeft: 3)
        #expect(outcome == .failed(expected))
        #expect(await phone.credentials.tokens == nil)
    }

    @Test func `an undecided session expires`() async throws {
        #expect(try await result { $0.decision = #""state":"expired""# } == .expired)
    }

    static let refusals: [HeliographError] = [
        EKYCServer.refusal(400, .invalidImage, field: "faces"), EKYCServer.refusal(400, .invalidPhotoCount, field: "faces"),
        EKYCServer.refusal(400, .invalidEmail, field: "email"), EKYCServer.refusal(400, .missingField, field: "fcm_token"),
        EKYCServer.refusal(400, .consentRequired), EKYCServer.refusal(401, .unauthorized),
        EKYCServer.refusal(403, .reauthenticationRequired), EKYCServer.refusal(413, .payloadTooLarge),
        EKYCServer.refusal(415, .unsupportedMediaType), EKYCServer.refusal(422, .idempotencyKeyReused),
        EKYCServer.refusal(429, .accountLocked, retryAfter: 300), EKYCServer.refusal(429, .rateLimited, retryAfter: 2),
        EKYCServer.refusal(503, .overloaded, retryAfter: 3_600), HeliographError(.signedOut, "no"),
    ]

    @Test(arguments: refusals) func `what the API refuses is the outcome, with its field and its time`(error: HeliographError) async throws
    {
        #expect(try await result { $0.uploadRefusals = [error] } == .refused(error))
        #expect(phone.server.sessions.isEmpty)
    }

    @Test(arguments: [EKYCServer.refusal(409, .requestInProgress, retryAfter: 1), EKYCServer.refusal(503, .overloaded, retryAfter: 2)])
    func `an upload that the API does not take now is sent again`(error: HeliographError) async throws {
        #expect(try await result { $0.uploadRefusals = [error, error] } == .signedIn(userID: "user-1"))
    }

    @Test func `an upload that the API never takes ends with its refusal`() async throws {
        let error = EKYCServer.refusal(503, .overloaded)
        #expect(try await result { $0.uploadRefusals = Array(repeating: error, count: 100) } == .refused(error))
    }

    @Test func `a sender that is refused after an upload without an answer does not hide that one`() async throws {
        let outcome = try await result { $0.uploadRefusals = [EKYCServer.lost, EKYCServer.refusal(401, .unauthorized)] }
        #expect(outcome == .outcomeUnknown)
    }

    @Test func `an upload without an answer is not repeated by an API that is away for longer than it remembers`() async throws {
        let start = phone.time.now
        let outcome = try await result { $0.uploadRefusals = [EKYCServer.lost, EKYCServer.refusal(503, .overloaded, retryAfter: 3_600)] }
        #expect(outcome == .outcomeUnknown && phone.time.now.timeIntervalSince(start) < 60)
    }

    @Test func `photos that are refused after an upload without an answer are refused`() async throws {
        let error = EKYCServer.refusal(400, .invalidImage)
        #expect(try await result { $0.uploadRefusals = [EKYCServer.lost, error] } == .refused(error))
    }

    @Test func `faults of questions and redemptions pass`() async throws {
        let faults = [EKYCServer.lost, EKYCServer.refusal(500, .internal), EKYCServer.refusal(429, .rateLimited, retryAfter: 9)]
        let outcome = try await result {
            $0.askFaults = faults + [HeliographError(.unexpectedAnswer, "a captive network", status: 403)]
            $0.redeemFaults = faults + [EKYCServer.refusal(409, .requestInProgress)]
        }
        #expect(outcome == .signedIn(userID: "user-1"))
    }

    @Test func `a session that the API does not know any more has expired`() async throws {
        #expect(try await result { $0.askFaults = [EKYCServer.refusal(404, .sessionNotFound)] } == .expired)
    }

    @Test func `a redemption after more than five minutes is refused`() async throws {
        let outcome = try await result { $0.redeemFaults = Array(repeating: EKYCServer.lost, count: 12) }
        #expect(outcome == .tooLate)
        #expect(await phone.credentials.tokens == nil)
    }

    @Test func `tokens that cannot be stored are stored later`() async throws {
        await phone.credentials.fail(2)
        #expect(try await result { _ in } == .signedIn(userID: "user-1"))
        #expect(await phone.credentials.stored.count == 1 && phone.server.sessions.first?.redemptions == 1)
    }

    @Test func `tokens that cannot be stored for a day are given up, and signed out`() async throws {
        await phone.credentials.fail(.max)
        #expect(try await result { _ in } == .tooLate)
        await until { !phone.server.loggedOutTokens.isEmpty }
        #expect(phone.server.loggedOutTokens == [#"token("access-0")"#])
    }

    @Test func `a redemption without an answer for a day is given up`() async throws {
        #expect(try await result { $0.redeemFaults = Array(repeating: EKYCServer.lost, count: 100_000) } == .tooLate)
    }

    @Test func `a process that begins after the tokens were stored and refreshed is signed in`() async throws {
        // It ends between the store and the mark of the outcome; the tokens are refreshed before the next one asks.
        let life = EKYCLife()
        let first = phone.launch(
            life, isInstant: true,
            signIn: { [phone] in
                try? await phone.credentials.store(AccountTokens(accessToken: "a", refreshToken: "r", expiresIn: 1, userID: "user-1"))
                life.kill()
            })
        let session = try await first.client.signIn(EKYCPhone.faces, email: "a@b.example")
        for await _ in life.death { break }
        phone.server.plan { $0.redeemFaults = [EKYCServer.refusal(403, .forbidden)] }
        let second = phone.launch(isInstant: true)
        let pending = try await second.client.pending()
        #expect(pending.map(\.id) == [session.id])
        #expect(await pending.first?.result() == .signedIn(userID: "user-1"))
    }

    @Test func `a session that is not taken for a day is swept, and one that goes on for a day has ended`() async throws {
        phone.server.plan { $0.asksBeforeDecision = nil }
        let life = EKYCLife()
        _ = try await phone.launch(life).client.signIn(EKYCPhone.faces, email: "a@b.example")
        await phone.time.waitForSleepers()
        life.kill()
        phone.time.advance(by: .seconds(86_401))
        let second = phone.launch(isInstant: true)
        try await second.manager.start()
        #expect(try await second.store.tasks().map(\.isFinished) == [true])
        #expect(await second.sender.sent.isEmpty && phone.leftovers.count == 1)
        phone.time.advance(by: .seconds(86_401))
        try await second.store.sweep()
        #expect(phone.leftovers == [])
    }
}
