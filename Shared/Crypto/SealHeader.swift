/// What stands before a sealed value: version, kind, key id, salt and nonce prefix, all authenticated.
///
/// The key that seals is derived from the ring's key and the 128-bit salt, so that the 56-bit nonce prefix need not
/// be unique by itself: 2⁶⁴ values may be sealed under one ring key before a pair of (key, nonce) is likely to repeat.
struct SealHeader {
    enum Kind: UInt8 {
        case whole = 1
        case stream = 2
    }

    static let version: UInt8 = 1
    static let saltByteCount = 16
    static let noncePrefixByteCount = 7
    /// The longest header there can be, in bytes.
    static let byteCountMax = 3 + KeyRing.idCharactersMax + saltByteCount + noncePrefixByteCount

    let kind: Kind
    let keyID: String
    let salt: [UInt8]
    let noncePrefix: [UInt8]

    init(kind: Kind, keyID: String) {
        self.kind = kind
        self.keyID = keyID
        salt = SecureRandom.bytes(Self.saltByteCount)
        noncePrefix = SecureRandom.bytes(Self.noncePrefixByteCount)
    }

    var bytes: [UInt8] {
        [Self.version, kind.rawValue, UInt8(keyID.utf8.count)] + Array(keyID.utf8) + salt + noncePrefix
    }

    /// Reads a header off the front of some bytes; nil when more bytes are needed.
    init?(reading bytes: [UInt8], expected: Kind) throws(CryptoError) {
        if let first = bytes.first, first != Self.version {
            throw CryptoError(.malformed, "the sealed value has an unknown version")
        }
        guard bytes.count >= 3 else { return nil }
        guard bytes[1] == expected.rawValue else {
            throw CryptoError(.malformed, "the sealed value is of another kind")
        }
        let idLength = Int(bytes[2])
        guard (1...KeyRing.idCharactersMax).contains(idLength) else {
            throw CryptoError(.malformed, "the sealed value has a key id of a wrong length")
        }
        let saltStart = 3 + idLength
        let prefixStart = saltStart + Self.saltByteCount
        let end = prefixStart + Self.noncePrefixByteCount
        guard bytes.count >= end else { return nil }
        kind = expected
        keyID = String(decoding: bytes[3..<saltStart], as: UTF8.self)
        salt = Array(bytes[saltStart..<prefixStart])
        noncePrefix = Array(bytes[prefixStart..<end])
    }

    /// The key of this one value: HMAC of the ring's key over a label, the kind and the salt.
    func derivedKey(from key: KeyRing.Key) -> [UInt8] {
        HMACSHA256.authenticate(Array("heliograph/seal/v1".utf8) + [kind.rawValue] + salt, key: key.bytes)
    }

    /// The nonce of a segment: prefix, big-endian counter, and 1 for the last segment.
    func nonce(counter: UInt32, isLast: Bool) -> [UInt8] {
        noncePrefix
            + [
                UInt8(truncatingIfNeeded: counter >> 24), UInt8(truncatingIfNeeded: counter >> 16),
                UInt8(truncatingIfNeeded: counter >> 8), UInt8(truncatingIfNeeded: counter), isLast ? 1 : 0,
            ]
    }
}
