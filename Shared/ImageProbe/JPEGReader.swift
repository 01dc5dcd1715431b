/// Parses the markers of a JPEG file (ITU-T T.81 annex B) up to its end-of-image marker.
///
/// Some phones leave that marker out, with or without data of their own behind the picture. Then the picture ends with the file, or
/// before the first marker behind the data of its only scan.
///
/// Segments are skipped by their length, so a thumbnail inside one is never mistaken for the picture. Bytes after the end of
/// the image are ignored: phones append gain maps and previews there.
struct JPEGReader: FormatReader {
    /// Time of a pixel in a plain picture, and of each scan of another: a scan may have only a few bytes, but makes a decoder process the
    /// whole picture again.
    private static let (plainNanoseconds, scanNanoseconds) = (5, 1)

    private enum Step {
        case signature, markerPrefix, marker, segmentLength(UInt8), frameHeader, afterSegment
        case scanHeader(Int), scanData, entropy, entropyMarker
    }

    private var step = Step.signature
    private var scans = 0
    private var frame = Frame()
    /// Whether a decoder needs all coefficients before it can output a row.
    private var isWhole = false
    private var end: Int?
    private(set) var isOpenEnded = true
    private(set) var size: (width: Int, height: Int)?

    var wholeBytes: Int { isWhole ? frame.coefficientBytes : 0 }
    var nanosecondsPerPixel: Int { Self.plainNanoseconds + (isWhole ? scans * Self.scanNanoseconds : 0) }

    func end(in byteCount: Int) -> Int? {
        if let end { return end }
        switch step {
        case .entropy, .entropyMarker: return byteCount
        default: return nil
        }
    }

    mutating func step(_ bytes: [UInt8], at position: Int, limits: ImageLimits) throws(ImageProbeError) -> Demand {
        switch step {
        case .signature:
            step = .afterSegment
            return .skip(2)
        case .markerPrefix:
            guard bytes[0] == 0xFF else { throw ImageProbeError(.malformed, "a JPEG segment without a marker") }
            step = .marker
            return .bytes(1)
        case .marker:
            return try take(marker: bytes[0], at: position)
        case .segmentLength(let marker):
            let length = bytes.bigEndian(at: 0, count: 2) - 2
            guard length >= 0 else { throw ImageProbeError(.malformed, "a JPEG segment shorter than its length") }
            return try take(segment: marker, length: length)
        case .frameHeader:
            return try take(frameHeader: bytes, limits: limits)
        case .afterSegment:
            step = .markerPrefix
            return .bytes(1)
        case .scanHeader(let rest):
            // If the first scan lacks a component, later scans contain it.
            if scans == 0, Int(bytes[0]) != frame.samplings.count { isWhole = true }
            scans += 1
            guard scans <= limits.scans else { throw ImageProbeError(.tooCostly, "more than \(limits.scans) JPEG scans") }
            step = .scanData
            return .skip(rest)
        case .scanData:
            step = .entropy
            return .pass(0xFF)
        case .entropy:
            step = .entropyMarker
            return .bytes(1)
        case .entropyMarker:
            return try take(entropyMarker: bytes[0], at: position)
        }
    }

    private mutating func take(marker: UInt8, at position: Int) throws(ImageProbeError) -> Demand {
        switch marker {
        case 0xFF:  // fill byte
            return .bytes(1)
        case 0xD9:
            guard scans > 0 else { throw ImageProbeError(.malformed, "a JPEG that ends before it shows anything") }
            (end, isOpenEnded) = (position, false)
            return .nothing
        case 0xC0, 0xC1, 0xC2, 0xC4, 0xDA...0xDD, 0xE0...0xEF, 0xFE:
            step = .segmentLength(marker)
            return .bytes(2)
        default:
            // Lossless, hierarchical and arithmetic-coded frames included: no phone writes them, few decoders read them.
            throw ImageProbeError(.malformed, "a JPEG marker 0x\(String(marker, radix: 16)) that is not taken")
        }
    }

    private mutating func take(segment marker: UInt8, length: Int) throws(ImageProbeError) -> Demand {
        switch marker {
        case 0xC0, 0xC1, 0xC2:
            guard size == nil, 6...18 ~= length else { throw ImageProbeError(.malformed, "a second or odd JPEG frame header") }
            isWhole = marker == 0xC2
            step = .frameHeader
            return .bytes(length)
        case 0xDA:
            guard size != nil else { throw ImageProbeError(.malformed, "a JPEG scan before its frame header") }
            guard length > 0 else { throw ImageProbeError(.malformed, "an empty JPEG scan header") }
            step = .scanHeader(length - 1)
            return .bytes(1)
        default:
            step = .afterSegment
            return .skip(length)
        }
    }

    private mutating func take(frameHeader bytes: [UInt8], limits: ImageLimits) throws(ImageProbeError) -> Demand {
        let (height, width) = (bytes.bigEndian(at: 1, count: 2), bytes.bigEndian(at: 3, count: 2))
        // A height of 0 means that it follows the first scan: no camera writes this, and no limit could be checked.
        try limits.check(width: width, height: height)
        let components = Int(bytes[5])
        guard bytes[0] == 8, [1, 3, 4].contains(components), bytes.count == 6 + 3 * components else {
            throw ImageProbeError(.malformed, "a JPEG frame of a kind that is not taken")
        }
        size = (width, height)
        frame = Frame(width: width, height: height, samplings: (0..<components).map { bytes[7 + 3 * $0] })
        step = .markerPrefix
        return .bytes(1)
    }

    private mutating func take(entropyMarker byte: UInt8, at position: Int) throws(ImageProbeError) -> Demand {
        switch byte {
        case 0x00, 0xD0...0xD7:  // a stuffed byte, or a restart
            step = .entropy
            return .pass(0xFF)
        case 0xFF:
            return .bytes(1)
        default:
            // A decoder of several scans would go on behind a marker that it does not know.
            guard byte != 0xD9, !isWhole else { return try take(marker: byte, at: position) }
            end = position - 2
            return .nothing
        }
    }
}

/// The size and components given by a frame header.
private struct Frame {
    private static let coefficientBytes = 2

    var width = 0
    var height = 0
    /// The horizontal factor in the upper half of the byte, the vertical one in the lower.
    var samplings: [UInt8] = []

    /// Bytes of all coefficients.
    var coefficientBytes: Int {
        let maxHorizontal = max(1, samplings.map { Int($0 >> 4) }.max() ?? 1)
        let maxVertical = max(1, samplings.map { Int($0 & 15) }.max() ?? 1)
        let share = samplings.reduce(0) { $0 + Int($1 >> 4) * Int($1 & 15) }
        return (width * height * share + maxHorizontal * maxVertical - 1) / (maxHorizontal * maxVertical) * Self.coefficientBytes
    }
}
