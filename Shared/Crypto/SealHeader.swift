/// The header of a sealed value: version, kind, key id, salt and nonce prefix, all authenticated.
///
/// The key of a value is derived from the ring's key and the 128-bit salt, so that the 56-bit nonce prefix need not be unique
/// by itself: 2⁶⁴ values may be sealed under one ring key before a pair of (key, nonce) is likely to repeat.
struct SealHeader {
    enum Kind: UInt8 {
        case whole = 1
        case stream = 2
    }

    static let version: UInt8 = 1
    private static let derivationLabel = Array("heliograph/seal/v1".utf8)
    static let saltByteCount = 16
    static let noncePrefixByteCount = 7
    /// The length of the longest possible header, in bytes.
    static let maxByteCount = 3 + KeyRing.maxIDLength + saltByteCount + noncePrefixByteCount

    let kind: Kind
    let keyID: String
    /// The encoded header; salt and nonce prefix are its end.
    let bytes: [UInt8]

    init(kind: Kind, keyID: String) {
        self.kind = kind
        self.keyID = keyID
        bytes =
            [Self.version, kind.rawValue, UInt8(keyID.utf8.count)] + Array(keyID.utf8)
            + SecureRandom.bytes(Self.saltByteCount + Self.noncePrefixByteCount)
    }

    private var salt: ArraySlice<UInt8> { bytes.dropLast(Self.noncePrefixByteCount).suffix(Self.saltByteCount) }
    private var noncePrefix: ArraySlice<UInt8> { bytes.suffix(Self.noncePrefixByteCount) }

    /// Parses the header at the start of some bytes; nil when more bytes are needed.
    init?(reading source: [UInt8], expected: Kind) throws(CryptoError) {
        if let first = source.first, first != Self.version {
            throw CryptoError(.malformed, "the sealed value has an unknown version")
        }
        guard source.count >= 3 else { return nil }
        guard source[1] == expected.rawValue else {
            throw CryptoError(.malformed, "the sealed value is of another kind")
        }
        let idLength = Int(source[2])
        guard (1...KeyRing.maxIDLength).contains(idLength) else {
            throw CryptoError(.malformed, "the sealed value has a key id of a wrong length")
        }
        let saltStart = 3 + idLength
        let end = saltStart + Self.saltByteCount + Self.noncePrefixByteCount
        guard source.count >= end else { return nil }
        kind = expected
        keyID = String(decoding: source[3..<saltStart], as: UTF8.self)
        bytes = Array(source[..<end])
    }

    /// Derives the key of this value: HMAC under the ring's key over a label, the kind and the salt.
    func derivedKey(from key: KeyRing.Key) -> [UInt8] {
        var message = Self.derivationLabel
        message.reserveCapacity(message.count + 1 + salt.count)
        message.append(kind.rawValue)
        message += salt
        return key.mac.authenticate(message)
    }

    /// The nonce of a segment: prefix, big-endian counter, and 1 for the last segment.
    func nonce(counter: UInt32, isLast: Bool) -> [UInt8] {
        var nonce: [UInt8] = []
        nonce.reserveCapacity(AESGCM.nonceByteCount)
        nonce += noncePrefix
        withUnsafeBytes(of: counter.bigEndian) { nonce.append(contentsOf: $0) }
        nonce.append(isLast ? 1 : 0)
        return nonce
    }
}
