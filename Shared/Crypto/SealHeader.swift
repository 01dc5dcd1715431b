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

    /// The encoded header, in the bytes that it was read from; salt and nonce prefix are its end.
    let bytes: ArraySlice<UInt8>

    init(kind: Kind, keyID: String) {
        let random = SecureRandom.bytes(ValueKeyDerivation.saltByteCount + Self.noncePrefixByteCount)
        bytes = (Self.start(kind: kind, keyID: keyID) + random)[...]
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
        let end = 3 + idLength + ValueKeyDerivation.saltByteCount + Self.noncePrefixByteCount
        guard source.count >= end else { return nil }
        bytes = source[..<end]
    }

    /// The id of the ring's key, in UTF-8.
    var keyID: ArraySlice<UInt8> { bytes[3..<(3 + Int(bytes[2]))] }

    /// Derives the key of this value from the ring's key.
    func derivedKey(from key: KeyRing.Key) -> AESGCM.Key { key.derivation.key(salt: salt) }

    /// The nonce of a segment: prefix, big-endian counter, and 1 for the last segment.
    func nonce(counter: UInt32, isLast: Bool) -> AESGCM.Nonce {
        AESGCM.Nonce(prefix: noncePrefix, counter: counter, end: isLast ? 1 : 0)
    }
}
