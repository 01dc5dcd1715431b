import Foundation
import HeliographCrypto
import ServiceDefaults
import Testing
import WireFormat

@testable import IdentityAPI

/// Challenges, their ids, and the decision whether an upload may answer one.
@Suite struct ChallengeTokenTests {
    private static let tokens = ChallengeTokens(sessionKey: [UInt8](repeating: 1, count: 32))
    private static let now = Date(timeIntervalSince1970: 1_800_000_000.25)

    @Test func `each order of three poses is drawn, unless it begins with nearer`() {
        let all = LivenessPose.allCases
        var orders: Set<[LivenessPose]> = []
        for first in all where first != .nearer {
            for second in all where second != first {
                for third in all where third != first && third != second { orders.insert([first, second, third]) }
            }
        }
        #expect(orders.count == 18)
        // One of them is left out by chance once in 10⁴⁸ runs.
        let drawn = Set((0..<2_000).map { _ in FaceChallenge().poses })
        #expect(drawn == orders)
    }

    @Test func `challenges differ in their ids, and end 90 seconds after their beginning`() {
        let challenges = (0..<100).map { _ in FaceChallenge(now: Self.now) }
        #expect(Set(challenges.map(\.id)).count == 100)
        #expect(challenges.allSatisfy { 90..<91 ~= $0.expiresAt.timeIntervalSince(Self.now) })
    }

    @Test func `a token has its challenge`() {
        for _ in 0..<200 {
            let challenge = FaceChallenge()
            let token = Self.tokens.token(of: challenge)
            #expect(token.utf8.count == ChallengeTokens.length)
            #expect(Self.tokens.challenge(of: token) == challenge)
        }
    }

    @Test func `a token of which a bit was changed is none`() throws {
        let bytes = try #require(Base64URL.decode(Self.tokens.token(of: FaceChallenge())))
        for bit in 0..<bytes.count * 8 {
            var forged = bytes
            forged[bit / 8] ^= 1 << (bit % 8)
            #expect(Self.tokens.challenge(of: Base64URL.encode(forged)) == nil, "bit \(bit)")
        }
    }

    @Test func `a token of another key is none, and neither is any other text`() {
        let token = Self.tokens.token(of: FaceChallenge())
        let other = ChallengeTokens(sessionKey: [UInt8](repeating: 2, count: 32))
        #expect(other.challenge(of: token) == nil)
        for text in ["", "a", token + "A", String(token.dropLast()), token + "=", String(repeating: "é", count: 40), token.uppercased()] {
            #expect(Self.tokens.challenge(of: text) == nil, "\(text)")
        }
        let zeros = Base64URL.encode([UInt8](repeating: 0, count: 59))
        #expect(zeros.utf8.count == ChallengeTokens.length && Self.tokens.challenge(of: zeros) == nil)
    }

    @Test func `an upload has to begin before the end of its challenge, and to be complete ten minutes later`() throws {
        let gate = ChallengeGate(tokens: Self.tokens, isRequired: false)
        let challenge = FaceChallenge(now: Self.now)
        let (token, end) = (Self.tokens.token(of: challenge), challenge.expiresAt)
        #expect(try gate.check(token, beganAt: end, now: end + 600) == challenge)
        for (began, now) in [(end + 0.001, end + 0.001), (end, end + 600.001)] {
            let error = #expect(throws: APIError.self) { try gate.check(token, beganAt: began, now: now) }
            #expect(error?.code == .challengeExpired && error?.field == "challenge_id")
        }
        #expect(challenge.forgottenAt > end + 600, "its use is remembered for longer")
    }

    @Test(arguments: [nil, ""]) func `an upload without a challenge is refused where one is required`(token: String?) throws {
        #expect(try ChallengeGate(tokens: Self.tokens, isRequired: false).check(token, beganAt: Self.now) == nil)
        let gate = ChallengeGate(tokens: Self.tokens, isRequired: true)
        let error = #expect(throws: APIError.self) { try gate.check(token, beganAt: Self.now) }
        #expect(error?.code == .challengeRequired)
    }

    @Test(arguments: [([:], false), (["FACE_REQUIRE_CHALLENGE": "0"], false), (["FACE_REQUIRE_CHALLENGE": "1"], true)])
    func `a challenge is required where the setting is 1`(values: [String: String], isRequired: Bool) throws {
        #expect(try Settings(environment: values).requiresChallenge() == isRequired)
    }

    @Test(arguments: ["yes", "2"]) func `another value of the setting ends the start`(value: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try Settings(environment: ["FACE_REQUIRE_CHALLENGE": value]).requiresChallenge()
        }
        #expect(error?.name == "FACE_REQUIRE_CHALLENGE")
    }
}
