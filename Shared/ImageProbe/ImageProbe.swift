#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Checks a picture while it arrives, by its structure and without decoding it or doing any input or output.
///
/// Feed it the bytes in order and call ``finish()`` at the end. A picture that is too big is refused as soon as its
/// header says so, one that is cut short when it ends. Names and declared types are not asked: only the bytes count.
/// At most 512 KiB are ever held (a HEIC file's index); for the other formats it is less than a hundred bytes.
public struct ImageProbe: Sendable {
    /// Bytes that tell every format apart.
    private static let signatureBytes = 12

    private let limits: ImageLimits
    private var format: ImageFormat?
    private var reader: (any FormatReader)?
    private var demand = Demand.bytes(ImageProbe.signatureBytes)
    private var collected: [UInt8] = []
    private var byteCount = 0

    /// Makes a probe for one picture.
    public init(limits: ImageLimits = ImageLimits()) { self.limits = limits }

    /// Takes the next bytes of the picture.
    ///
    /// - Throws: ``ImageProbeError`` as soon as the picture is known not to be taken; the probe is of no use after that.
    public mutating func feed(_ bytes: RawSpan) throws(ImageProbeError) {
        byteCount += bytes.byteCount
        guard byteCount <= limits.bytes else {
            throw ImageProbeError(.tooManyBytes, "more than \(limits.bytes) bytes")
        }
        try consume(bytes)
    }

    private mutating func consume(_ bytes: RawSpan) throws(ImageProbeError) {
        var position = 0
        while position < bytes.byteCount {
            switch demand {
            case .nothing:
                return
            case .skip(let count):
                let step = min(count, bytes.byteCount - position)
                position += step
                demand = .skip(count - step)
                if step == count { try advance([]) }
            case .pass(let byte):
                guard let found = Self.index(of: byte, in: bytes, from: position) else { return }
                position = found + 1
                try advance([])
            case .bytes(let count):
                let step = min(count - collected.count, bytes.byteCount - position)
                for offset in position..<(position + step) {
                    collected.append(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
                }
                position += step
                guard collected.count == count else { continue }
                let whole = collected
                collected = []
                try advance(whole)
            }
        }
    }

    /// Says what the picture is, now that all of it was fed.
    ///
    /// - Throws: `truncated` when the format says there is more to come; `unsupportedFormat` when there was too little
    ///   to tell the format; `tooMuchMemory`.
    public consuming func finish() throws(ImageProbeError) -> ImageInfo {
        guard let format, let reader else {
            throw ImageProbeError(.unsupportedFormat, "\(byteCount) bytes are no picture")
        }
        guard reader.isComplete, let size = reader.size else {
            throw ImageProbeError(.truncated, "a \(format.rawValue) that ends after \(byteCount) bytes")
        }
        let wholeBytes = reader.wholeBytes
        guard wholeBytes <= limits.wholeBytes else {
            throw ImageProbeError(.tooMuchMemory, "\(wholeBytes) bytes to decode; \(limits.wholeBytes) are taken")
        }
        return ImageInfo(
            format: format, width: size.width, height: size.height, byteCount: byteCount, wholeBytes: wholeBytes)
    }

    /// Hands the reader what it demanded and notes what it demands next.
    private mutating func advance(_ bytes: [UInt8]) throws(ImageProbeError) {
        if reader == nil {
            (format, reader) = try Self.recognise(bytes)
            try advance([])
            // The bytes that told the format are part of the file: the reader has them first.
            return try consume(bytes.span.bytes)
        }
        let limits = limits
        var next = try reader?.step(bytes, limits: limits) ?? .nothing
        while next == .skip(0) || next == .bytes(0) { next = try reader?.step([], limits: limits) ?? .nothing }
        demand = next
    }

    private static func recognise(_ bytes: [UInt8]) throws(ImageProbeError) -> (ImageFormat, any FormatReader) {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return (.jpeg, JPEGReader()) }
        if bytes.starts(with: PNGReader.signature) { return (.png, PNGReader()) }
        if bytes.matches("RIFF", at: 0), bytes.matches("WEBP", at: 8) { return (.webp, WebPReader()) }
        if bytes.matches("ftyp", at: 4) { return (.heic, HEICReader()) }
        throw ImageProbeError(.unsupportedFormat, "the first bytes are those of no format that is taken")
    }

    private static func index(of byte: UInt8, in bytes: RawSpan, from start: Int) -> Int? {
        // The C library's search, because nearly every byte of a photo passes through here, in debug builds too.
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base + start, Int32(byte), bytes.count - start) else {
                return nil
            }
            return base.distance(to: found)
        }
    }
}
