/// Parses the chunks of a PNG file (ISO/IEC 15948) from `IHDR` to `IEND`.
///
/// A file that was cut off behind its data, or has something else there, is shown by every viewer: then the picture ends with the data.
struct PNGReader: FormatReader {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let checksumBytes = 4
    /// Time of a pixel of up to four bands of eight bits, which doubles with their depth, and again if it is interlaced.
    private static let plainNanoseconds = 6

    private enum Step { case signature, chunkHeader, chunkStart, header, end }

    private var step = Step.signature
    private var end: Int?
    /// The offset behind the last chunk of data that began.
    private var dataEnd: Int?
    private(set) var size: (width: Int, height: Int)?
    /// Bytes per decoded pixel, after the expansion of a palette and of a transparent colour.
    private var pixelBytes = 0
    private var isInterlaced = false
    private var hasTransparency = false

    var wholeBytes: Int { isInterlaced ? (size?.width ?? 0) * (size?.height ?? 0) * pixelBytes : 0 }

    var nanosecondsPerPixel: Int { Self.plainNanoseconds * (pixelBytes > 4 ? 2 : 1) * (isInterlaced ? 2 : 1) }
    var isOpenEnded: Bool { end == nil }

    func end(in byteCount: Int) -> Int? { end ?? dataEnd.flatMap { $0 <= byteCount ? $0 : nil } }

    mutating func step(_ bytes: [UInt8], at position: Int, limits: ImageLimits) throws(ImageProbeError) -> Demand {
        switch step {
        case .signature:
            step = .chunkHeader
            return .skip(Self.signature.count)
        case .chunkHeader:
            step = .chunkStart
            return .bytes(8)
        case .chunkStart:
            return try take(chunk: bytes, at: position)
        case .header:
            let (width, height) = (bytes.bigEndian(at: 0, count: 4), bytes.bigEndian(at: 4, count: 4))
            try limits.check(width: width, height: height)
            size = (width, height)
            // Colour types 0 to 6: grey, –, RGB, palette, grey and alpha, –, RGBA.
            pixelBytes = [1, 1, 3, 3, 2, 1, 4][min(Int(bytes[9]), 6)] * (bytes[8] == 16 ? 2 : 1)
            isInterlaced = bytes[12] != 0
            step = .chunkHeader
            return .skip(Self.checksumBytes)
        case .end:
            end = position
            return .nothing
        }
    }

    private mutating func take(chunk bytes: [UInt8], at position: Int) throws(ImageProbeError) -> Demand {
        let length = bytes.bigEndian(at: 0, count: 4)
        if dataEnd != nil, !Self.isName(bytes[4...]) { return .nothing }
        guard length <= Int(Int32.max) else { throw ImageProbeError(.malformed, "a PNG chunk longer than the format allows") }
        if bytes.matches("IHDR", at: 4) {
            guard size == nil, length == 13 else { throw ImageProbeError(.malformed, "a second or odd PNG header") }
            step = .header
            return .bytes(length)
        }
        guard size != nil else { throw ImageProbeError(.malformed, "a PNG that does not begin with its header") }
        if bytes.matches("acTL", at: 4) { throw ImageProbeError(.animated, "an animated PNG") }
        if bytes.matches("tRNS", at: 4), !hasTransparency {
            hasTransparency = true
            pixelBytes += pixelBytes.isMultiple(of: 3) ? pixelBytes / 3 : pixelBytes
        }
        if bytes.matches("IDAT", at: 4) { dataEnd = position + length + Self.checksumBytes }
        if bytes.matches("IEND", at: 4) {
            guard dataEnd != nil, length == 0 else { throw ImageProbeError(.malformed, "a PNG that ends before it shows anything") }
            step = .end
            return .bytes(Self.checksumBytes)
        }
        step = .chunkHeader
        return .skip(length + Self.checksumBytes)
    }

    /// Whether four bytes may name a chunk.
    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 & 0xDF }
    }
}
