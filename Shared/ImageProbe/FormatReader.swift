/// What a reader of a format wants next from the bytes of the file.
enum Demand: Equatable {
    /// The next so many bytes, all together.
    case bytes(Int)
    /// To go on behind the next so many bytes, which are not looked at.
    case skip(Int)
    /// To go on behind the next byte of this value.
    case pass(UInt8)
    /// Nothing: the picture is complete, and what follows it does not matter.
    case nothing
}

/// Understands the structure of one format, step by step.
///
/// A reader never sees chunks: ``ImageProbe`` collects what the reader demands, so that how the bytes arrive cannot
/// change what is made of them.
protocol FormatReader: Sendable {
    /// Pixels across and down; nil while unknown.
    var size: (width: Int, height: Int)? { get }
    /// Bytes that decoding takes besides the rows that are asked for; 0 when it goes row by row.
    var wholeBytes: Int { get }
    /// True when the file may end here.
    var isComplete: Bool { get }
    /// Takes the bytes of the last demand (none for a skip or a pass, nor the first time) and says what is wanted next.
    mutating func step(_ bytes: [UInt8], limits: ImageLimits) throws(ImageProbeError) -> Demand
}

/// Reads whole numbers out of a few collected bytes. The offsets must be in range: callers demand what they read.
extension [UInt8] {
    func bigEndian(at offset: Int, count: Int) -> Int {
        self[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
    }

    func littleEndian(at offset: Int, count: Int) -> Int {
        self[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    func matches(_ text: StaticString, at offset: Int) -> Bool {
        text.withUTF8Buffer { text in
            offset + text.count <= count && self[offset..<(offset + text.count)].elementsEqual(text)
        }
    }
}
