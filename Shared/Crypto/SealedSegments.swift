/// Opens single segments (64 KiB) of a sealed stream whose length is known, in any order.
///
/// A segment that opens is authentic and in its place. Once the last segment has opened, the stream is known not to be truncated.
public struct SealedSegments: ~Copyable, Sendable {
    /// The maximum length of a header, in bytes.
    public static let maxHeaderByteCount = SealHeader.maxByteCount
    private static let sealedSegmentByteCount = Sealer.segmentByteCount + AESGCM.tagByteCount

    private let header: SealHeader
    private var cipher: AESGCM
    private let associated: [UInt8]
    private let sealedByteCount: Int

    /// The number of segments; at least one.
    public let count: Int
    /// The length of the opened stream, in bytes.
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
        associated = Array(header.bytes) + context
        sealedByteCount = byteCount
        self.count = count
        self.plainByteCount = plainByteCount
    }

    /// Returns the offsets of a segment in the sealed stream.
    public func range(of segment: Int) -> Range<Int> {
        let start = header.bytes.count + segment * Self.sealedSegmentByteCount
        return start..<min(start + Self.sealedSegmentByteCount, sealedByteCount)
    }

    /// Opens a segment.
    ///
    /// - Parameter sealed: the bytes at ``range(of:)``.
    /// - Throws: `authenticationFailed` when the bytes were changed, moved or cut.
    public mutating func open(_ segment: Int, _ sealed: [UInt8]) throws(CryptoError) -> [UInt8] {
        var output: [UInt8] = []
        let nonce = header.nonce(counter: UInt32(segment), isLast: segment == count - 1)
        try sealed.withBytes { bytes throws(CryptoError) in
            try cipher.open(bytes, nonce: nonce, associated: associated[...], into: &output)
        }
        return output
    }
}
