/// Opens a sealed stream piece by piece, holding little more than one segment (64 KiB) in memory.
///
/// The bytes that ``update(_:)-([UInt8])`` returns are authentic, in order and from the start of the stream; only when
/// ``finish()`` returns without an error is the stream known to be complete.
public struct StreamOpener: ~Copyable, Sendable {
    private static let sealedSegmentByteCount = Sealer.segmentByteCount + AESGCM.tagByteCount

    private let sealer: Sealer
    private let context: [UInt8]
    private var segments: Segments?
    private var pending: [UInt8] = []
    private var isFinished = false

    private struct Segments: ~Copyable, Sendable {
        let header: SealHeader
        var cipher: AESGCM
        let associated: [UInt8]
        var counter: UInt32 = 0

        mutating func open(_ bytes: UnsafeRawBufferPointer, isLast: Bool, into output: inout [UInt8]) throws(CryptoError) {
            let (next, overflow) = counter.addingReportingOverflow(1)
            guard isLast || !overflow else { throw CryptoError(.streamMisuse, "the stream has too many segments") }
            try cipher.open(
                bytes, nonce: header.nonce(counter: counter, isLast: isLast), associated: associated[...], into: &output)
            counter = next
        }
    }

    init(sealer: Sealer, context: [UInt8]) {
        self.sealer = sealer
        self.context = context
    }

    /// Adds the next sealed bytes and returns the plaintext of the segments they complete; it may be empty.
    public mutating func update(_ chunk: [UInt8]) throws(CryptoError) -> [UInt8] {
        try chunk.withBytes { bytes throws(CryptoError) in try update(bytes) }
    }

    /// Adds the sealed bytes in memory and returns the plaintext of the segments they complete; it may be empty.
    ///
    /// - Throws: `malformed`, `unknownKey`, `authenticationFailed`; `streamMisuse` after ``finish()``.
    public mutating func update(_ chunk: UnsafeRawBufferPointer) throws(CryptoError) -> [UInt8] {
        guard !isFinished else { throw CryptoError(.streamMisuse, "the opened stream was finished") }
        var output: [UInt8] = []
        var rest = chunk[...]
        try readHeader(&rest)
        while !rest.isEmpty {
            if pending.count == Self.sealedSegmentByteCount { try openPending(isLast: false, into: &output) }
            let taken = rest.prefix(Self.sealedSegmentByteCount - pending.count)
            pending.append(contentsOf: UnsafeRawBufferPointer(rebasing: taken))
            rest = rest.dropFirst(taken.count)
        }
        return output
    }

    /// Ends the stream and returns the plaintext of its last segment.
    ///
    /// - Throws: `authenticationFailed` when the stream was cut; `streamMisuse` when called twice.
    public mutating func finish() throws(CryptoError) -> [UInt8] {
        guard !isFinished else { throw CryptoError(.streamMisuse, "the opened stream was finished") }
        guard segments != nil else { throw CryptoError(.malformed, "the sealed stream ends within its header") }
        var output: [UInt8] = []
        try openPending(isLast: true, into: &output)
        isFinished = true
        return output
    }

    /// Collects the header byte by byte, as its length is known only while reading it.
    private mutating func readHeader(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(CryptoError) {
        while segments == nil, let byte = rest.popFirst() {
            pending.append(byte)
            guard let header = try SealHeader(reading: pending, expected: .stream) else { continue }
            let cipher = try sealer.openingCipher(header)
            segments = Segments(header: header, cipher: cipher, associated: pending + context)
            pending.removeAll(keepingCapacity: true)
        }
    }

    private mutating func openPending(isLast: Bool, into output: inout [UInt8]) throws(CryptoError) {
        let sealed = pending
        try sealed.withBytes { bytes throws(CryptoError) in
            try segments?.open(bytes, isLast: isLast, into: &output)
        }
        pending.removeAll(keepingCapacity: true)
    }
}
