import Foundation
import HeliographCrypto
import WireFormat

@testable import IdentityAPI

extension FuzzTarget {
    /// A byte that chooses what comes after it: the text of a token, the content of one that is then signed, or changes of a valid one.
    static let challenges = FuzzTarget(name: "challenges") { bytes in
        var input = FuzzInput(bytes)
        let checks = [checkChallengeText, checkChallengeContent, checkChangedChallenge]
        let check = checks[Int(input.byte()) % checks.count]
        try check(&input)
    }

    private static let sessionKey = [UInt8](repeating: 7, count: 32)
    private static let tokensOfChallenges = ChallengeTokens(sessionKey: sessionKey)

    /// What is no challenge is refused, and a challenge has one text only.
    private static func checkChallengeText(_ input: inout FuzzInput) throws {
        let text = input.text
        guard let challenge = tokensOfChallenges.challenge(of: text) else { return }
        try requireEqual(tokensOfChallenges.token(of: challenge), text, "the token that is written")
        try checkPoses(of: challenge)
    }

    /// An id, poses and a time of any value with the right signature: what a key that has leaked, or a later version, could sign.
    private static func checkChallengeContent(_ input: inout FuzzInput) throws {
        let content = input.bytes
        let key = HMACSHA256.authenticate(Array("heliograph face challenge".utf8), key: sessionKey)
        let text = Base64URL.encode(content + HMACSHA256.authenticate(content, key: key))
        let poses = content.dropFirst(16).prefix(LivenessPose.countInChallenge)
        let isWhole = content.count == 16 + LivenessPose.countInChallenge + 8
        let challenge = tokensOfChallenges.challenge(of: text)
        try requireEqual(challenge != nil, isWhole && poses.allSatisfy { $0 < LivenessPose.allCases.count }, "whether it is a challenge")
        guard let challenge else { return }
        try checkPoses(of: challenge)
        try requireEqual(challenge.poses, poses.map { LivenessPose.allCases[Int($0)] }, "the poses")
        try require(challenge.forgottenAt >= challenge.expiresAt, "a use that is forgotten before the challenge ends")
    }

    /// Each change of a valid token makes it invalid: pairs of a place and a byte that is added to the one there by XOR.
    private static func checkChangedChallenge(_ input: inout FuzzInput) throws {
        let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16))
        let challenge = FaceChallenge(id: id, poses: [.front, .left, .nearer], expiresAt: Date(timeIntervalSince1970: 1_761_559_200))
        let text = tokensOfChallenges.token(of: challenge)
        var bytes = Array(text.utf8)
        while !input.rest.isEmpty { bytes[Int(input.byte()) % bytes.count] ^= input.byte() }
        let changed = String(decoding: bytes, as: UTF8.self)
        try requireEqual(tokensOfChallenges.challenge(of: changed), changed == text ? challenge : nil, "a changed token")
    }

    private static func checkPoses(of challenge: FaceChallenge) throws {
        try requireEqual(challenge.poses.count, LivenessPose.countInChallenge, "the number of poses")
    }
}
