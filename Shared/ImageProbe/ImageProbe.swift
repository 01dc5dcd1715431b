#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Checks the structure of a picture incrementally, without decoding it and without I/O.
///
/// Feed it the bytes in order and call ``finish()`` at the end. A picture that is too big is refused as soon as its header
/// is read, a truncated one by ``finish()``. File names and declared types are ignored: only the bytes count. The probe
/// holds up to 512 KiB (a HEIC file's index), and less than a hundred bytes for the other formats.
public struct ImageProbe: Sendable {
    /// Bytes that suffice to recognise every format.
    private static let signatureBytes = 12

    private let limits: ImageLimits
    private var format: ImageFormat?
    private var reader: (any FormatReader)?
    private var demand = Demand.bytes(ImageProbe.signatureBytes)
    private var collected: [UInt8] = []
    private var byteCount = 0
    /// The file offset of the first byte that is not consumed yet.
    private var position = 0

    /// Creates a probe for one picture.
    public init(limits: ImageLimits = ImageLimits()) { self.limits = limits }

    /// Takes the next bytes of the picture.
    ///
    /// - Throws: ``ImageProbeError`` as soon as the picture must be refused; the probe cannot be used after that.
    public mutating func feed(_ bytes: RawSpan) throws(ImageProbeError) {
        byteCount += bytes.byteCount
        guard byteCount <= limits.bytes else {
            throw ImageProbeError(.tooManyBytes, "more than \(limits.bytes) bytes")
        }
        try consume(bytes)
    }

    private mutating func consume(_ bytes: RawSpan) throws(ImageProbeError) {
        var next = 0
        while next < bytes.byteCount {
            switch demand {
            case .nothing:
                return
            case .skip(let count):
                let step = min(count, bytes.byteCount - next)
                take(step, &next)
                demand = .skip(count - step)
                if step == count { try advance([]) }
            case .pass(let byte):
                guard let found = Self.index(of: byte, in: bytes, from: next) else { return take(bytes.byteCount - next, &next) }
                take(found + 1 - next, &next)
                try advance([])
            case .bytes(let count):
                let step = min(count - collected.count, bytes.byteCount - next)
                for offset in next..<(next + step) {
                    collected.append(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
                }
                take(step, &next)
                guard collected.count == count else { continue }
                let whole = collected
                collected = []
                try advance(whole)
            }
        }
    }

    private mutating func take(_ count: Int, _ next: inout Int) {
        next += count
        position += count
    }

    /// Returns the format and size of the picture after its last byte.
    ///
    /// - Throws: `truncated` when the picture is incomplete; `unsupportedFormat` when there were too few bytes to recognise
    ///   the format; `tooMuchMemory`; `tooCostly`.
    public consuming func finish() throws(ImageProbeError) -> ImageInfo {
        guard let format, let reader else {
            throw ImageProbeError(.unsupportedFormat, "\(byteCount) bytes are no picture")
        }
        guard let end = reader.end(in: byteCount), let size = reader.size else {
            throw ImageProbeError(.truncated, "a \(format.rawValue) that ends after \(byteCount) bytes")
        }
        let wholeBytes = reader.wholeBytes
        guard wholeBytes <= limits.wholeBytes else {
            throw ImageProbeError(.tooMuchMemory, "\(wholeBytes) bytes to decode; \(limits.wholeBytes) are taken")
        }
        let cost = Duration.nanoseconds(size.width * size.height * reader.nanosecondsPerPixel)
        guard cost <= limits.cost else {
            throw ImageProbeError(.tooCostly, "\(cost) to decode; \(limits.cost) are taken")
        }
        return ImageInfo(
            format: format, width: size.width, height: size.height, byteCount: byteCount, end: end, isOpenEnded: reader.isOpenEnded,
            wholeBytes: wholeBytes, cost: cost)
    }

    /// Passes the reader the bytes it demanded and stores its next demand.
    private mutating func advance(_ bytes: [UInt8]) throws(ImageProbeError) {
        if reader == nil {
            (format, reader) = try Self.recognise(bytes)
            // The signature bytes are part of the file: the reader receives them first.
            position = 0
            try advance([])
            return try consume(bytes.span.bytes)
        }
        let (limits, position) = (limits, position)
        var next = try reader?.step(bytes, at: position, limits: limits) ?? .nothing
        while next == .skip(0) || next == .bytes(0) { next = try reader?.step([], at: position, limits: limits) ?? .nothing }
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
        // Uses `memchr`, because nearly every byte of a photo passes through here, and debug builds must be fast too.
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base + start, Int32(byte), bytes.count - start) else {
                return nil
            }
            return base.distance(to: found)
        }
    }
}
