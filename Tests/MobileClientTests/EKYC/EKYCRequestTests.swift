import Foundation
import Testing

@testable import MobileClient

/// The requests of sessions, and how their answers are read.
@Suite struct EKYCRequestTests {
    private let id = UUID()

    private func started(_ token: String?) throws -> EKYCRequests.Started {
        var response = TransportResponse.json(
            #"{"success":true,"code":0,"message":"Photos uploaded successfully","data":{"session_id":"\#(id.wireText)"}}"#)
        response.headers["x-session-token"] = token
        let request = EKYCRequests.upload(.signIn, URL(fileURLWithPath: "/f"), boundary: "b", bearer: .none, key: id)
        return try request.decode(response)
    }

    @Test func `an upload has its key, its form and its route`() {
        let file = URL(fileURLWithPath: "/f")
        let signUp = EKYCRequests.upload(.signUp, file, boundary: "b", bearer: .account, key: id)
        #expect(signUp.method == "POST" && signUp.path == "/api/v1/ekyc/upload-photos" && signUp.idempotencyKey == id)
        #expect(signUp.body == .multipart(file: file, boundary: "b") && signUp.bearer == .account && signUp.isRepeatable)
        let signIn = EKYCRequests.upload(.signIn, file, boundary: "b", bearer: .none, key: id)
        #expect(signIn.path == "/api/v1/ekyc/login" && signIn.bearer == .none)
    }

    @Test func `a pose of a challenge that is not known keeps its text`() throws {
        let members = #""challenge_id":"c","poses":["front","blink","nearer"],"expires_at":"2027-01-15T08:00:00Z""#
        let answer = #"{"data":{\#(members)},"meta":{"requestId":"r","timestamp":"2027-01-15T07:59:00Z"}}"#
        let challenge = try EKYCRequests.challenge().decode(.json(answer))
        #expect(challenge.poses == [.front, .init(rawValue: "blink"), .nearer] && challenge.id == "c")
    }

    @Test func `the session's token is read from the header`() throws {
        #expect(try started("a-token-of-256-bits") == EKYCRequests.Started(sessionID: id, token: "a-token-of-256-bits"))
    }

    @Test(arguments: [nil, "", "short", "a token with spaces in it", "a-token-with\r\nheader: x", String(repeating: "t", count: 600)])
    func `an answer without a usable token is none`(token: String?) {
        #expect(throws: (any Error).self) { try started(token) }
    }

    private func verdict(_ members: String, of session: UUID? = nil) throws -> EKYCSessionReducer.Verdict {
        let answer = #"{"success":true,"code":0,"message":"","data":{"session_id":"\#((session ?? id).wireText)",\#(members)}}"#
        return try EKYCRequests.status(id, token: "t", wait: 0).decode(.json(answer))
    }

    @Test(arguments: ["received", "processing", "a_state_of_a_later_version"]) func `a state that is no end is undecided`(
        state: String
    ) throws {
        #expect(try verdict(#""state":"\#(state)""#) == .undecided)
    }

    @Test func `ends are read with what belongs to them`() throws {
        #expect(try verdict(#""state":"succeeded""#) == .succeeded(awaiting: nil))
        #expect(
            try verdict(#""state":"succeeded","verification_id":"\#(id.wireText)","reference":"KFTM""#)
                == .succeeded(awaiting: EKYCSession.AwaitedCode(verificationID: id, reference: "KFTM")))
        #expect(try verdict(#""state":"expired","retryable":true"#) == .expired)
        #expect(
            try verdict(#""state":"failed","reason":"no_face","retryable":true"#)
                == .failed(EKYCSession.Failure(.noFace, isRetryable: true)))
        #expect(try verdict(#""state":"failed""#) == .failed(EKYCSession.Failure(.internal, isRetryable: true)))
    }

    @Test func `the answer of another session is refused`() {
        #expect(throws: (any Error).self) { try verdict(#""state":"succeeded""#, of: UUID()) }
    }

    @Test func `a question has the session's token, and waits for longer than the API`() {
        let quick = EKYCRequests.status(id, token: "t", wait: 0)
        #expect(quick.path == "/api/v1/ekyc/sessions/\(id.uuidString.lowercased())" && quick.query.isEmpty && quick.bearer == .token("t"))
        let held = EKYCRequests.status(id, token: "t", wait: 30)
        #expect(held.query == [URLQueryItem(name: "wait", value: "30")] && held.timeout > .seconds(30))
    }

    @Test func `tokens are read, and incomplete ones refused`() throws {
        let request = EKYCRequests.redeem(id, token: "t")
        #expect(request.method == "POST" && request.path.hasSuffix("/token") && request.bearer == .token("t") && request.isRepeatable)
        let answer = #"{"access_token":"a","refresh_token":"r","token_type":"Bearer","expires_in":3600,"user_id":"u"}"#
        #expect(try request.decode(.json(answer)) == AccountTokens(accessToken: "a", refreshToken: "r", expiresIn: 3600, userID: "u"))
        let empty = #"{"access_token":"","refresh_token":"r","token_type":"Bearer","expires_in":3600,"user_id":"u"}"#
        #expect(throws: (any Error).self) { try request.decode(.json(empty)) }
    }

    static let outcomes: [EKYCSession.Outcome] = [
        .enrolled(awaiting: nil), .enrolled(awaiting: EKYCSession.AwaitedCode(verificationID: UUID(), reference: "KFTM")),
        .signedIn(userID: "u"), .expired, .tooLate, .outcomeUnknown,
        .superseded, .signedOut,
        .failed(
            EKYCSession.Failure(
                .noFace, isRetryable: true, photos: [.init(.left, 2, [.noFace, .init(rawValue: "later")])],
                retakeUntil: Date(timeIntervalSince1970: 600))),
        .failed(EKYCSession.Failure(.noMatch, isRetryable: false, attemptsLeft: 2, liveness: .passed)),
        .refused(
            HeliographError(
                .accountLocked, "No", status: 429, field: "f", requestID: "r", retryAfter: .seconds(90), isRetryable: true)),
    ]

    @Test func `a code is sent with the request for the tokens, which is not repeated by itself`() {
        let request = EKYCRequests.redeem(id, token: "t", code: "482913")
        #expect(request.body == .json(Data(#"{"code":"482913"}"#.utf8)) && !request.isRepeatable)
        #expect(EKYCRequests.redeem(id, token: "t").body == .none)
    }

    @Test func `a record keeps the code that is awaited`() throws {
        var record = EKYCRecord(kind: .signIn, sender: .form, boundary: "b")
        let phase = EKYCSessionReducer.Phase.awaitingCode(
            sessionID: id, EKYCSession.AwaitedCode(verificationID: UUID(), reference: "KFTM"))
        record.phase = phase
        #expect(try JSONDecoder().decode(EKYCRecord.self, from: JSONEncoder().encode(record)).phase == phase)
    }

    @Test(arguments: outcomes) func `a record keeps an outcome as it is`(outcome: EKYCSession.Outcome) throws {
        var record = EKYCRecord(kind: .signIn, sender: .form, boundary: "b")
        record.phase = .ended(outcome)
        let kept = try JSONDecoder().decode(EKYCRecord.self, from: JSONEncoder().encode(record))
        #expect(kept.phase == .ended(outcome) && kept == record)
    }
}
