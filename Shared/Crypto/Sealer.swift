internal import Synchronization

/// Seals values for storage with AES-256-GCM, bound to a context.
///
/// A sealed value names its format and its key, so that keys can be rotated. The context is authenticated but not stored: a value
/// sealed for `face_template:<user>` opens only with that context, so rows cannot be swapped.
public struct Sealer: Sendable {
    /// The number of plaintext bytes of a segment of a sealed stream.
    public static let segmentByteCount = 64 * 1024
    /// The maximum length of a value sealed whole, in bytes; longer ones must be streamed.
    public static let maxWholeByteCount = 64 * 1024 * 1024

    /// The first byte of every sealed value: the version of its format.
    public static let version = SealHeader.version

    let keyRing: KeyRing
    private let idle = IdleOpener()

    /// A cipher context that is reused, because making one costs as much as opening a token. Between two values it holds the key of the
    /// last one; the ring beside it holds all keys anyway.
    private final class IdleOpener: Sendable {
        private let cipher = Mutex<AESGCM?>(nil)

        /// Returns the context with another key; a new one while another thread uses it.
        func take(for key: AESGCM.Key) throws(CryptoError) -> AESGCM {
            var taken: AESGCM? = nil
            cipher.withLock { swap(&taken, &$0) }
            guard var taken else { return try AESGCM(key: key, isSealing: false) }
            try taken.setKey(key)
            return taken
        }

        func keep(_ used: consuming AESGCM) {
            var used: AESGCM? = used
            cipher.withLock { swap(&used, &$0) }
        }
    }

    /// Creates a sealer that seals with the ring's current key and opens with any of its keys.
    public init(keyRing: KeyRing) {
        self.keyRing = keyRing
    }

    /// Seals a value held in memory.
    ///
    /// - Throws: `streamMisuse` above ``maxWholeByteCount``.
    public func seal(_ plaintext: [UInt8], context: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard plaintext.count <= Self.maxWholeByteCount else {
            throw CryptoError(.streamMisuse, "a value of \(plaintext.count) bytes must be sealed as a stream")
        }
        let header = SealHeader(kind: .whole, keyID: keyRing.current.id)
        var cipher = try AESGCM(key: header.derivedKey(from: keyRing.current), isSealing: true)
        var output = Array(header.bytes)
        output.reserveCapacity(output.count + plaintext.count + AESGCM.tagByteCount)
        try plaintext.withBytes { bytes throws(CryptoError) in
            try cipher.seal(
                bytes, nonce: header.nonce(counter: 0, isLast: true), associated: header.bytes, following: context, into: &output)
        }
        return output
    }

    /// Opens a value that ``seal(_:context:)`` sealed with the same context.
    ///
    /// - Throws: `malformed`, `unknownKey`, or `authenticationFailed` when it was changed or belongs elsewhere.
    public func open(_ sealed: [UInt8], context: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let header = try SealHeader(reading: sealed, expected: .whole) else {
            throw CryptoError(.malformed, "the sealed value ends within its header")
        }
        let key = try derivedKey(header)
        var cipher = try idle.take(for: key)
        var output: [UInt8] = []
        try sealed.withBytes { bytes throws(CryptoError) in
            try cipher.open(
                UnsafeRawBufferPointer(rebasing: bytes[header.bytes.endIndex...]),
                nonce: header.nonce(counter: 0, isLast: true), associated: header.bytes, following: context, into: &output)
        }
        idle.keep(cipher)
        return output
    }

    /// Starts sealing a stream of any length in constant memory.
    public func makeStreamSealer(context: [UInt8]) throws(CryptoError) -> StreamSealer {
        let header = SealHeader(kind: .stream, keyID: keyRing.current.id)
        let cipher = try AESGCM(key: header.derivedKey(from: keyRing.current), isSealing: true)
        return StreamSealer(header: header, cipher: cipher, context: context)
    }

    /// Starts opening a stream that a ``StreamSealer`` made with the same context.
    public func makeStreamOpener(context: [UInt8]) throws(CryptoError) -> StreamOpener {
        StreamOpener(sealer: self, context: context)
    }

    /// Prepares to open single segments of a sealed stream.
    ///
    /// - Parameters:
    ///   - first: the first ``SealedSegments/maxHeaderByteCount`` bytes of the sealed stream, or all of a shorter one.
    ///   - byteCount: the length of the sealed stream.
    /// - Throws: `malformed`, `unknownKey`, `authenticationFailed`.
    public func makeSegments(_ first: [UInt8], byteCount: Int, context: [UInt8]) throws(CryptoError) -> SealedSegments {
        try SealedSegments(first, byteCount: byteCount, context: context, sealer: self)
    }

    func openingCipher(_ header: SealHeader) throws(CryptoError) -> AESGCM {
        try AESGCM(key: derivedKey(header), isSealing: false)
    }

    private func derivedKey(_ header: SealHeader) throws(CryptoError) -> AESGCM.Key {
        guard let key = keyRing.key(id: header.keyID) else {
            throw CryptoError(.unknownKey, "the key that sealed the value is not in the key ring")
        }
        return header.derivedKey(from: key)
    }
}
