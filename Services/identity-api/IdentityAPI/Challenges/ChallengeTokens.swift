internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import WireFormat

/// Makes and reads the ids of challenges: the challenge itself with a signature, so that issuing one stores nothing.
struct ChallengeTokens: Sendable {
    private static let label = Array("heliograph face challenge".utf8)
    private static let idBytes = 16
    private static let timeBytes = 8
    private static let contentBytes = idBytes + LivenessPose.countInChallenge + timeBytes
    private static let codeBytes = 32
    /// The length of a token: unpadded base64url of the content and its code.
    static let length = ((contentBytes + codeBytes) * 4 + 2) / 3

    private let key: [UInt8]

    /// Derives the key of the signatures from `SESSION_KEY`, so that no other HMAC under `SESSION_KEY` is one.
    init(sessionKey: [UInt8]) {
        key = HMACSHA256.authenticate(Self.label, key: sessionKey)
    }

    /// The id of a challenge, as apps get it.
    func token(of challenge: FaceChallenge) -> String {
        let id = withUnsafeBytes(of: challenge.id.uuid) { Array($0) }
        let poses = challenge.poses.map { UInt8(LivenessPose.allCases.firstIndex(of: $0) ?? 0) }
        let seconds = UInt64(max(0, challenge.expiresAt.timeIntervalSince1970))
        let content = id + poses + withUnsafeBytes(of: seconds.bigEndian) { Array($0) }
        return Base64URL.encode(content + HMACSHA256.authenticate(content, key: key))
    }

    /// Returns the challenge of a token; nil when the token was not made with this key.
    func challenge(of token: String) -> FaceChallenge? {
        guard token.utf8.count == Self.length, let bytes = Base64URL.decode(token), bytes.count == Self.contentBytes + Self.codeBytes else {
            return nil
        }
        let content = Array(bytes.prefix(Self.contentBytes))
        guard HMACSHA256.isValid(Array(bytes.suffix(Self.codeBytes)), of: content, key: key) else { return nil }
        let poses = content[Self.idBytes..<(Self.idBytes + LivenessPose.countInChallenge)]
        let all = LivenessPose.allCases
        guard poses.allSatisfy({ Int($0) < all.count }) else { return nil }
        let seconds = content.suffix(Self.timeBytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return FaceChallenge(
            // The first 16 bytes, whose bits of the version are those of every random UUID.
            id: UUID(hash: content), poses: poses.map { all[Int($0)] }, expiresAt: Date(timeIntervalSince1970: Double(seconds)))
    }
}
