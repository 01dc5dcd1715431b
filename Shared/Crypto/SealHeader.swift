/// The header of a sealed value: version, kind, key id, salt and nonce prefix, all authenticated.
///
/// The key of a value is derived from the ring's key and the 96-bit salt, so that the 56-bit nonce prefix need not be unique
/// by itself: after 2⁶⁰ values under one ring key, a pair of (key, nonce) has repeated with a probability of 2⁻³³.
struct SealHeader {
    enum Kind: UInt8 {
        case whole = 1
        case stream = 2
    }

    static let version: UInt8 = 2
    static let noncePrefixByteCount = 7
    /// The length of the longest possible header, in bytes.
    static let maxByteCount = 3 + KeyRing.maxIDLength + ValueKeyDerivation.saltByteCount + noncePrefixByteCount

    let kind: Kind
    let keyID: String
    /// The encoded header; salt and nonce prefix are its end.
    let bytes: [UInt8]

    init(kind: Kind, keyID: String) {
        self.kind = kind
        self.keyID = keyID
        bytes =
            Self.start(kind: kind, keyID: keyID)
            + SecureRandom.bytes(ValueKeyDerivation.saltByteCount + Self.noncePrefixByteCount)
    }

    /// Returns the part of a header before the salt.
    static func start(kind: Kind, keyID: String) -> [UInt8] {
        [version, kind.rawValue, UInt8(keyID.utf8.count)] + Array(keyID.utf8)
    }

    private var salt: ArraySlice<UInt8> { bytes.dropLast(Self.noncePrefixByteCount).suffix(ValueKeyDerivation.saltByteCount) }
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
        let end = saltStart + ValueKeyDerivation.saltByteCount + Self.noncePrefixByteCount
        guard source.count >= end else { return nil }
        kind = expected
        keyID = String(decoding: source[3..<saltStart], as: UTF8.self)
        bytes = Array(source[..<end])
    }

    /// Derives the key of this value from the ring's key.
    func derivedKey(from key: KeyRing.Key) -> [UInt8] { key.derivation.key(salt: salt) }

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
