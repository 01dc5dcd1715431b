/// Parses the RIFF chunks of a WebP file (RFC 9649).
struct WebPReader: FormatReader {
    /// Bytes of a picture chunk that hold its size, for lossy (`VP8 `) and lossless (`VP8L`) pictures.
    private static let lossyHeaderBytes = 10
    private static let losslessHeaderBytes = 5
    private static let canvasHeaderBytes = 10

    private enum Step { case start, container, chunkHeader, canvas(Int), lossy(Int), lossless(Int), afterChunk(Int) }

    private var step = Step.start
    private var end: Int?
    /// Remaining bytes of the container.
    private var left = 0
    private var canvas: (width: Int, height: Int)?
    private var picture: (width: Int, height: Int)?

    /// Lossless pictures are decoded as four bands, whatever size is asked for; so is the transparency of lossy ones.
    private static let losslessPixelBytes = 4
    private var isLossless = false

    var wholeBytes: Int { isLossless ? (size?.width ?? 0) * (size?.height ?? 0) * Self.losslessPixelBytes : 0 }
    let nanosecondsPerPixel = 10
    var size: (width: Int, height: Int)? { canvas ?? picture }

    func end(in byteCount: Int) -> Int? { picture == nil ? nil : end }

    mutating func step(_ bytes: [UInt8], at position: Int, limits: ImageLimits) throws(ImageProbeError) -> Demand {
        switch step {
        case .start:
            step = .container
            return .bytes(12)
        case .container:
            // The size excludes itself and the bytes before it, but includes the four bytes of "WEBP".
            left = bytes.littleEndian(at: 4, count: 4) - 4
            guard left >= 8 else { throw ImageProbeError(.malformed, "a WebP container without a chunk") }
            return nextChunk(at: position)
        case .chunkHeader:
            return try take(chunk: bytes)
        case .canvas(let rest):
            guard bytes[0] & 0x02 == 0 else { throw ImageProbeError(.animated, "an animated WebP") }
            let found = (bytes.littleEndian(at: 4, count: 3) + 1, bytes.littleEndian(at: 7, count: 3) + 1)
            try limits.check(width: found.0, height: found.1)
            canvas = found
            return skip(rest)
        case .lossy(let rest):
            guard bytes[0] & 1 == 0, bytes[3...5].elementsEqual([0x9D, 0x01, 0x2A]) else {
                throw ImageProbeError(.malformed, "a WebP picture that is no key frame")
            }
            let found = (bytes.littleEndian(at: 6, count: 2) & 0x3FFF, bytes.littleEndian(at: 8, count: 2) & 0x3FFF)
            return try take(picture: found, rest: rest, limits: limits)
        case .lossless(let rest):
            isLossless = true
            guard bytes[0] == 0x2F else { throw ImageProbeError(.malformed, "a lossless WebP picture without its mark") }
            let packed = bytes.littleEndian(at: 1, count: 4)
            return try take(picture: ((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1), rest: rest, limits: limits)
        case .afterChunk(let length):
            left -= length
            return nextChunk(at: position)
        }
    }

    private mutating func nextChunk(at position: Int) -> Demand {
        guard left > 0 else {
            end = position
            return .nothing
        }
        step = .chunkHeader
        return .bytes(8)
    }

    private mutating func skip(_ rest: Int) -> Demand {
        step = .afterChunk(rest)
        return .skip(rest)
    }

    private mutating func take(chunk bytes: [UInt8]) throws(ImageProbeError) -> Demand {
        let length = bytes.littleEndian(at: 4, count: 4)
        left -= 8
        // Chunks are padded to an even length; some writers leave the last padding byte out of the container's size.
        let padded = min(length + length & 1, max(left, length))
        guard left >= 0, padded <= left else { throw ImageProbeError(.malformed, "a WebP chunk longer than its container") }
        let header: Int
        if bytes.matches("ANIM", at: 0) || bytes.matches("ANMF", at: 0) {
            throw ImageProbeError(.animated, "an animated WebP")
        } else if bytes.matches("VP8X", at: 0), canvas == nil, picture == nil {
            header = Self.canvasHeaderBytes
            step = .canvas(padded - header)
        } else if bytes.matches("VP8 ", at: 0), picture == nil {
            header = Self.lossyHeaderBytes
            step = .lossy(padded - header)
        } else if bytes.matches("VP8L", at: 0), picture == nil {
            header = Self.losslessHeaderBytes
            step = .lossless(padded - header)
        } else if bytes.matches("ALPH", at: 0) {
            isLossless = true
            return skip(padded)
        } else if bytes.matches("VP8", at: 0) {
            throw ImageProbeError(.malformed, "a second picture in one WebP")
        } else {
            return skip(padded)
        }
        guard length >= header else { throw ImageProbeError(.malformed, "a WebP chunk without its header") }
        left -= header
        return .bytes(header)
    }

    private mutating func take(
        picture found: (width: Int, height: Int), rest: Int, limits: ImageLimits
    ) throws(ImageProbeError) -> Demand {
        try limits.check(width: found.width, height: found.height)
        if let canvas, canvas != found { throw ImageProbeError(.malformed, "a WebP picture that does not fit its canvas") }
        picture = found
        return skip(rest)
    }
}
