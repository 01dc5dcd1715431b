import Accounts
import Foundation
import HTTPClient
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The exchanges of sign-ups and sign-ins by face.
@Suite struct GoldenFaceTests {
    /// The exchanges about failed sign-ins, one for each reason.
    static var failures: [String] { SessionReason.allCases.map { "ekyc-session-failed-\($0.rawValue)" } }

    /// The bad photos of sign-ins that fail for them.
    private static let problems: [SessionReason: [PhotoProblems]] = [
        .noFace: [.init(pose: .any, index: 2, problems: [.noFace])],
        .multipleFaces: [.init(pose: .any, index: 0, problems: [.severalFaces])],
        .faceTooSmall: [.init(pose: .any, index: 0, problems: [.tooSmall]), .init(pose: .any, index: 1, problems: [.tooSmall])],
        .lowQuality: [.init(pose: .any, index: 0, problems: [.tooDark, .blurred]), .init(pose: .any, index: 2, problems: [.cutOff])],
        .invalidImage: [.init(pose: .any, index: 1, problems: [.undecodable]), .init(pose: .any, index: 2, problems: [.undecodable])],
        .duplicateImages: [.init(pose: .any, index: 1, problems: [.looksLikeAnotherPhoto])],
    ]

    /// The values of a session for its requests.
    private static func values(of session: (id: UUID, token: String)) -> [String: String] {
        ["<uuid:session>": session.id.wireString, "<token:session>": session.token]
    }

    @Test(.apiWithMail) func `sign-ups, and their repetition`() async throws {
        let golden = GoldenExchanges(api, ["<uuid:request>": UUID().wireString])
        let first = try await golden.run("ekyc-sign-up")
        let again = try await golden.run("ekyc-sign-up-repeated")
        #expect(again.text == first.text && again.header("X-Session-Token") == first.header("X-Session-Token"))
        try await golden.run("ekyc-sign-up-key-reused")
        let token = try await api.enrolmentToken("ada@example.org")
        try await golden.run("ekyc-sign-up-enrolment", ["<token:enrolment>": token, "<uuid:request>": UUID().wireString])
        try await golden.run("ekyc-sign-up-recovery", ["<token:enrolment>": token, "<uuid:request>": UUID().wireString])
        try await api.postgres.execute("UPDATE email_verifications SET verified_at = now() - interval '16 minutes'")
        try await golden.run("ekyc-sign-up-unauthorized", ["<token:enrolment>": token, "<uuid:request>": UUID().wireString])
    }

    @Test(.api) func `a sign-up that replaces a face`() async throws {
        let device = try await api.signedInDevice()
        let golden = GoldenExchanges(api, ["<token>": device.accessToken])
        try await golden.run("ekyc-sign-up-account")
        try await api.age(device, by: 301)
        try await golden.run("ekyc-sign-up-reauthentication-required")
    }

    @Test(.api) func `uploads that are refused`() async throws {
        let golden = GoldenExchanges(api)
        try await golden.run("ekyc-login-invalid-photo-count")
        try await golden.run("ekyc-login-invalid-image")
        try await golden.run("ekyc-login-too-large")
    }

    @Test(.api) func `challenges, and uploads that answer them`() async throws {
        let golden = GoldenExchanges(api)
        var values: [[String: String]] = []
        for _ in 1...2 {
            let token = try #require(try await golden.run("ekyc-challenge").json.text("data.challenge_id"))
            values.append(["<token:challenge>": token])
        }
        try await golden.run("ekyc-login-challenge", values[0])
        try await golden.run("ekyc-login-challenge-used", values[0])
        try await golden.run("ekyc-sign-up-challenge", values[1])
        let tokens = ChallengeTokens(sessionKey: try api.context.settings.sessionKey())
        let old = tokens.token(of: FaceChallenge(now: Date(timeIntervalSinceNow: -92)))
        try await golden.run("ekyc-login-challenge-expired", ["<token:challenge>": old])
        try await golden.run("ekyc-login-challenge-invalid", ["<token:challenge>": OpaqueToken.generate().text])
    }

    @Test(
        .api {
            $0.requiresChallenge = true
            $0.limits.challenges = Rate(perMinute: 1, burst: 1)
        })
    func `a required challenge, and too many of them`() async throws {
        let golden = GoldenExchanges(api)
        try await golden.run("ekyc-login-challenge-required")
        _ = try await api.send("POST", "/v1/ekyc/challenges")
        try await golden.run("ekyc-challenge-rate-limited")
    }

    @Test(.api) func `a sign-in, its states and its tokens`() async throws {
        try await api.signUp("known@example.org")
        let golden = GoldenExchanges(api)
        let response = try await golden.run("ekyc-login")
        let session = (
            id: try #require(UUID(wireString: response.json.text("data.session_id") ?? "")),
            token: try #require(response.header("X-Session-Token"))
        )
        let device = GoldenExchanges(api, Self.values(of: session))
        try await device.run("ekyc-session-received")
        try await device.run("ekyc-redeem-in-progress")
        #expect(try await SessionRepository(api.postgres).beginProcessing(id: session.id) != nil)
        try await device.run("ekyc-session-processing")
        try await api.decide(session.id, .succeeded)
        try await device.run("ekyc-session-succeeded")
        let redeemed = try await device.run("ekyc-redeem")
        let refresh = try #require(redeemed.json.text("refresh_token"))
        try await golden.run("auth-refresh", ["<token:refresh>": refresh])
        try await device.run("ekyc-redeem-forbidden")
        try await golden.run("auth-refresh-unauthorized", ["<token:refresh>": OpaqueToken.generate().text])
        try await device.run("ekyc-session-unauthorized", ["<token:session>": OpaqueToken.generate().text])
        try await device.run("ekyc-session-not-found", ["<uuid:session>": UUID().wireString])
    }

    @Test(.apiWithMail) func `a sign-up that succeeded awaits its code`() async throws {
        let session = try await api.start(Path.signUp, .signUp(email: "ada@example.org"))
        try await api.suspend(session.id)
        try await GoldenExchanges(api, Self.values(of: session)).run("ekyc-session-awaits-verification")
    }

    @Test(.api) func `a session that was not decided in time`() async throws {
        let session = try await api.start()
        try await api.postgres.execute("UPDATE sessions SET deadline_at = now() - interval '1 second' WHERE id = \(session.id)")
        try await api.sweep()
        try await GoldenExchanges(api, Self.values(of: session)).run("ekyc-session-expired")
    }

    @Test(.api) func `sign-ins that fail, for each reason`() async throws {
        for reason in SessionReason.allCases {
            let session = try await api.start(Path.login, .signIn(email: "\(reason.rawValue)@example.org"))
            try await api.decide(session.id, .failed(reason), problems: Self.problems[reason] ?? [])
            try await GoldenExchanges(api, Self.values(of: session)).run("ekyc-session-failed-\(reason.rawValue)")
        }
    }

    @Test(.api) func `an account that is locked`() async throws {
        for _ in 1...4 { try await api.decide(try await api.start().id, .failed(.noMatch)) }
        let last = try await api.start()
        try await api.decide(last.id, .failed(.noMatch))
        try await GoldenExchanges(api, Self.values(of: last)).run("ekyc-session-failed-locked")
        try await GoldenExchanges(api).run("ekyc-login-account-locked")
    }

    @Test(
        .api {
            $0.limits.undecidedSessions = .none
            $0.limits.undecidedSessions.perInstallation = 1
        })
    func `a phone with too many undecided sessions`() async throws {
        _ = try await api.start(Path.login, .signIn(email: "another@example.org"))
        try await GoldenExchanges(api).run("ekyc-login-overloaded")
    }
}
