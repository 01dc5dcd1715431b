/// The next bytes of the file that a format reader needs.
enum Demand: Equatable {
    /// The next bytes, of this count, in one piece.
    case bytes(Int)
    /// Skip this number of bytes.
    case skip(Int)
    /// Skip to the position after the next byte of this value.
    case pass(UInt8)
    /// Nothing: the picture is complete, and all further bytes are ignored.
    case nothing
}

/// Parses the structure of one format, step by step.
///
/// ``ImageProbe`` collects the bytes that the reader demands, so that the chunks in which they arrive cannot change the
/// result.
protocol FormatReader: Sendable {
    /// Width and height in pixels; nil while unknown.
    var size: (width: Int, height: Int)? { get }
    /// Bytes that a decoder needs for the whole picture at once; 0 when it decodes row by row.
    var wholeBytes: Int { get }
    /// The estimated processor time of decoding a pixel in nanoseconds, on a core that decodes 40 megapixels of a plain JPEG in 0.2 s.
    var nanosecondsPerPixel: Int { get }
    /// Whether the end of the picture has no mark of its own, so that only a decoder knows whether something is missing.
    var isOpenEnded: Bool { get }
    /// Returns the offset after the picture's last byte in a file of this length; nil when the picture is incomplete.
    func end(in byteCount: Int) -> Int?
    /// Takes the bytes of the last demand (empty after `skip` and `pass`, and the first time) and returns the next demand.
    ///
    /// - Parameter position: The file offset of the byte after them.
    mutating func step(_ bytes: [UInt8], at position: Int, limits: ImageLimits) throws(ImageProbeError) -> Demand
}

extension FormatReader {
    var isOpenEnded: Bool { false }
}

/// Reads whole numbers out of a few collected bytes. The offsets must be in range: callers demand what they read.
extension [UInt8] {
    package func bigEndian(at offset: Int, count: Int) -> Int {
        self[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
    }

    func littleEndian(at offset: Int, count: Int) -> Int {
        self[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    package func matches(_ text: StaticString, at offset: Int) -> Bool {
        text.withUTF8Buffer { text in
            offset + text.count <= count && self[offset..<(offset + text.count)].elementsEqual(text)
        }
    }
}
