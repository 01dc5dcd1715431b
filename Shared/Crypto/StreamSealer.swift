/// Seals a stream piece by piece, holding at most one segment (64 KiB) in memory.
///
/// Write ``header()`` first, then the bytes that each ``update(_:)-([UInt8])`` returns, then the bytes of ``finish()``. The last segment is
/// marked in its nonce, so a truncated stream does not open.
public struct StreamSealer: ~Copyable, Sendable {
    private let headerFields: SealHeader
    private var cipher: AESGCM
    private let associated: [UInt8]
    private var pending: [UInt8] = []
    private var counter: UInt32 = 0
    private var isFinished = false

    init(header: SealHeader, cipher: consuming AESGCM, context: [UInt8]) {
        headerFields = header
        self.cipher = cipher
        associated = Array(header.bytes) + context
    }

    /// Returns the header, which precedes the first segment.
    public func header() -> [UInt8] { Array(headerFields.bytes) }

    /// Adds the next bytes and returns the segments they complete; the result may be empty.
    public mutating func update(_ chunk: [UInt8]) throws(CryptoError) -> [UInt8] {
        try chunk.withBytes { bytes throws(CryptoError) in try update(bytes) }
    }

    /// Adds the bytes in memory and returns the segments they complete; the result may be empty.
    ///
    /// - Throws: `streamMisuse` after ``finish()``, or beyond 2³² segments (256 TiB).
    public mutating func update(_ chunk: UnsafeRawBufferPointer) throws(CryptoError) -> [UInt8] {
        guard !isFinished else { throw CryptoError(.streamMisuse, "the sealed stream was finished") }
        var output: [UInt8] = []
        var rest = chunk[...]
        while !rest.isEmpty {
            // A full segment waits for one more byte: only then is it known not to be the last.
            if pending.count == Sealer.segmentByteCount { try sealPending(isLast: false, into: &output) }
            let taken = rest.prefix(Sealer.segmentByteCount - pending.count)
            pending.append(contentsOf: UnsafeRawBufferPointer(rebasing: taken))
            rest = rest.dropFirst(taken.count)
        }
        return output
    }

    /// Ends the stream and returns its last segment.
    ///
    /// - Throws: `streamMisuse` when called twice.
    public mutating func finish() throws(CryptoError) -> [UInt8] {
        guard !isFinished else { throw CryptoError(.streamMisuse, "the sealed stream was finished") }
        var output: [UInt8] = []
        try sealPending(isLast: true, into: &output)
        isFinished = true
        return output
    }

    private mutating func sealPending(isLast: Bool, into output: inout [UInt8]) throws(CryptoError) {
        let nonce = headerFields.nonce(counter: counter, isLast: isLast)
        let (next, overflow) = counter.addingReportingOverflow(1)
        guard isLast || !overflow else { throw CryptoError(.streamMisuse, "the stream has too many segments") }
        try pending.withBytes { bytes throws(CryptoError) in
            try cipher.seal(bytes, nonce: nonce, associated: associated[...], into: &output)
        }
        counter = next
        pending.removeAll(keepingCapacity: true)
    }
}
