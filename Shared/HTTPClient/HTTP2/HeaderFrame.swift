internal import CNGHTTP2

/// The frame with which nghttp2 begins a request (RFC 9113 §6.2); its header block is replaced before it is sent.
struct HeaderFrame {
    private static let headByteCount = 9

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
    ///   - append: Appends the block, of at most 16,384 bytes.
    func write(to frame: inout [UInt8], appendBlock append: (inout [UInt8]) -> Void) {
        frame.removeAll(keepingCapacity: true)
        frame += bytes.prefix(Self.headByteCount)
        append(&frame)
        let byteCount = frame.count - Self.headByteCount
        precondition(byteCount <= 16_384, "a header block does not fit into the smallest frame that a server must accept")
        (frame[0], frame[1], frame[2]) = (0, UInt8(byteCount >> 8), UInt8(byteCount & 0xFF))
    }
}
