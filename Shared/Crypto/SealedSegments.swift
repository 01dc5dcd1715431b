/// Opens single segments (64 KiB) of a sealed stream whose length is known, in any order.
///
/// A segment that opens is authentic and in its place. That nothing was cut off is known once the last one has opened.
public struct SealedSegments: ~Copyable, Sendable {
    /// The most bytes of a header; a source as short has nothing behind it.
    public static let headerByteCountMax = SealHeader.byteCountMax
    private static let sealedSegmentByteCount = Sealer.segmentByteCount + AESGCM.tagByteCount

    private let header: SealHeader
    private let cipher: AESGCM
    private let associated: [UInt8]
    private let sealedByteCount: Int

    /// How many segments there are; at least one.
    public let count: Int
    /// How many bytes the opened stream has.
    public let plainByteCount: Int

    init(_ first: [UInt8], byteCount: Int, context: [UInt8], sealer: Sealer) throws(CryptoError) {
        guard let header = try SealHeader(reading: first, expected: .stream) else {
            throw CryptoError(.malformed, "the sealed stream ends within its header")
        }
        let body = byteCount - header.bytes.count
        let count = max(1, (body + Self.sealedSegmentByteCount - 1) / Self.sealedSegmentByteCount)
        let plainByteCount = body - count * AESGCM.tagByteCount
        guard plainByteCount >= 0, count <= UInt32.max else {
            throw CryptoError(.authenticationFailed, "the sealed value ends before its tag")
        }
        let cipher = try sealer.openingCipher(header)
        self.header = header
        self.cipher = cipher
        associated = header.bytes + context
        sealedByteCount = byteCount
        self.count = count
        self.plainByteCount = plainByteCount
    }

    /// Returns where a segment is in the sealed stream.
    public func range(of segment: Int) -> Range<Int> {
        let start = header.bytes.count + segment * Self.sealedSegmentByteCount
        return start..<min(start + Self.sealedSegmentByteCount, sealedByteCount)
    }

    /// Opens a segment.
    ///
    /// - Parameter sealed: the bytes at ``range(of:)``.
    /// - Throws: `authenticationFailed` when they were changed, moved or cut.
    public func open(_ segment: Int, _ sealed: [UInt8]) throws(CryptoError) -> [UInt8] {
        var output: [UInt8] = []
        let nonce = header.nonce(counter: UInt32(segment), isLast: segment == count - 1)
        try sealed.withBytes { bytes throws(CryptoError) in
            try cipher.open(bytes, nonce: nonce, associated: associated, into: &output)
        }
        return output
    }
}
