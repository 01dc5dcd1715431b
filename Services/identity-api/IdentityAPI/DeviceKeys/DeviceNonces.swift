internal import FoundationEssentials
internal import HeliographCrypto

/// Makes and reads the nonces of ``DeviceProof``s: a time with a signature, so that issuing one stores nothing, and so that each instance
/// with the same `SESSION_KEY` takes the nonces of the others.
///
/// A nonce shows that a proof was made lately, also on a phone whose clock is wrong. It may be in several proofs.
struct DeviceNonces: Sendable {
    /// The time for which a nonce is taken.
    static let lifetime: TimeInterval = 5 * 60
    /// The time by which the clock of the instance that issued a nonce may be ahead.
    static let maxClockSkew: TimeInterval = 60
    private static let label = Array("heliograph device nonce".utf8)
    private static let timeBytes = 8
    private static let codeBytes = 32
    /// The length of a nonce: unpadded base64url of the time and its code.
    static let length = ((timeBytes + codeBytes) * 4 + 2) / 3

    private let key: HMACSHA256

    /// Derives the key of the signatures from `SESSION_KEY`, so that no other HMAC under `SESSION_KEY` is one.
    init(sessionKey: [UInt8]) {
        key = HMACSHA256(key: HMACSHA256.authenticate(Self.label, key: sessionKey))
    }

    /// Returns a nonce that is taken from now on.
    func issue(at now: Date) -> String {
        let seconds = UInt64(max(0, now.timeIntervalSince1970))
        let time = withUnsafeBytes(of: seconds.bigEndian) { Array($0) }
        return Base64URL.encode(time + key.authenticate(time))
    }

    /// Returns when a nonce ends; nil for one that has ended, or that was not made with this key.
    func end(of nonce: String, at now: Date) -> Date? {
        guard nonce.utf8.count == Self.length, let bytes = Base64URL.decode(nonce), bytes.count == Self.timeBytes + Self.codeBytes else {
            return nil
        }
        let time = Array(bytes.prefix(Self.timeBytes))
        guard constantTimeEqual(Array(bytes.suffix(Self.codeBytes)), key.authenticate(time)) else { return nil }
        let issued = Date(timeIntervalSince1970: Double(time.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
        guard issued <= now + Self.maxClockSkew, now <= issued + Self.lifetime else { return nil }
        return issued + Self.lifetime
    }
}
