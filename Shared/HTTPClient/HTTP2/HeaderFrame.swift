internal import CNGHTTP2

/// The frame with which nghttp2 begins a request (RFC 9113 §6.2); its header block is replaced before it is sent.
struct HeaderFrame {
    private static let headByteCount = 9
    /// The size of a frame that every server accepts (RFC 9113 §6.5.2).
    private static let maxBlockByteCount = 16_384

    private let bytes: UnsafeRawBufferPointer

    /// Takes the next output of a session; nil when it is another frame, or the preface.
    init?(_ output: UnsafeRawBufferPointer) {
        guard output.count >= Self.headByteCount, output[3] == NGHTTP2_HEADERS.rawValue else { return nil }
        bytes = output
    }

    /// The stream.
    var stream: Int32 { Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: 5, as: Int32.self)) }

    /// Whether nothing precedes the block, and no other frame continues it.
    var hasWholeBlock: Bool {
        let byteCount = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        let flags = UInt32(bytes[4])
        return bytes.count == Self.headByteCount + byteCount && flags & NGHTTP2_FLAG_END_HEADERS.rawValue != 0
            && flags & (NGHTTP2_FLAG_PADDED.rawValue | NGHTTP2_FLAG_PRIORITY.rawValue) == 0
    }

    /// Writes the frame with another block.
    ///
    /// - Parameters:
    ///   - frame: Replaced by the frame.
    ///   - append: Appends the block.
    /// - Throws: When the block does not fit into one frame: the authority is very long, because the other fields are limited.
    func write(to frame: inout [UInt8], appendBlock append: (inout [UInt8]) -> Void) throws(NativeSession.Fault) {
        frame.removeAll(keepingCapacity: true)
        frame += bytes.prefix(Self.headByteCount)
        append(&frame)
        let byteCount = frame.count - Self.headByteCount
        guard byteCount <= Self.maxBlockByteCount else {
            throw NativeSession.Fault(reason: "the header fields are larger than \(Self.maxBlockByteCount) bytes")
        }
        (frame[0], frame[1], frame[2]) = (0, UInt8(byteCount >> 8), UInt8(byteCount & 0xFF))
    }
}
