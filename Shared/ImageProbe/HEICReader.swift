/// Parses the boxes of a HEIC file (ISO/IEC 14496-12, 23008-12): brands, the index of items, and the extent of their data.
struct HEICReader: FormatReader {
    /// Maximum size of an index (`meta` box) in bytes; phones write about 4 KiB.
    static let maxIndexBytes = 512 * 1024
    private static let maxBrandBytes = 256
    private static let stillBrands: Set<String> = ["heic", "heix", "heim", "heis"]
    private static let sequenceBrands: Set<String> = ["hevc", "hevx", "hevm", "hevs", "msf1"]

    private enum Step { case start, boxHeader, longLength([UInt8]), brands, index, afterBox, end }

    private var step = Step.start
    /// The position in the file, and the end of the items' data.
    private var position = 0
    private var dataEnd = 0
    private var hasData = false
    private var isAtBoxStart = false
    private(set) var size: (width: Int, height: Int)?
    private var pixelBytes = 0

    var wholeBytes: Int { (size?.width ?? 0) * (size?.height ?? 0) * pixelBytes }

    var isComplete: Bool { size != nil && hasData && isAtBoxStart && position >= dataEnd }

    mutating func step(_ bytes: [UInt8], limits: ImageLimits) throws(ImageProbeError) -> Demand {
        switch step {
        case .start, .afterBox:
            return nextBox()
        case .boxHeader:
            isAtBoxStart = false
            position += 8
            let length = bytes.bigEndian(at: 0, count: 4)
            if length == 1 {
                step = .longLength(bytes)
                return .bytes(8)
            }
            return try take(box: bytes, length: length == 0 ? nil : length - 8)
        case .longLength(let header):
            position += 8
            guard bytes[0] == 0 else { throw ImageProbeError(.malformed, "a HEIC box longer than any file") }
            return try take(box: header, length: bytes.bigEndian(at: 0, count: 8) - 16)
        case .brands:
            try check(brands: bytes)
            return nextBox()
        case .index:
            let index = try HEICIndex(bytes, limits: limits)
            size = index.size
            pixelBytes = index.pixelBytes
            dataEnd = index.dataEnd
            return nextBox()
        case .end:
            isAtBoxStart = true
            return .nothing
        }
    }

    private mutating func nextBox() -> Demand {
        isAtBoxStart = true
        step = .boxHeader
        return .bytes(8)
    }

    private mutating func take(box header: [UInt8], length: Int?) throws(ImageProbeError) -> Demand {
        if header.matches("moov", at: 4) { throw ImageProbeError(.animated, "a sequence of pictures") }
        let isData = header.matches("mdat", at: 4)
        guard let length else {
            // A box without a length extends to the end of the file; only the data of known pictures may.
            guard isData, size != nil else { throw ImageProbeError(.malformed, "an open-ended HEIC box") }
            hasData = true
            let rest = max(dataEnd - position, 0)
            position += rest
            step = .end
            return .skip(rest)
        }
        guard length >= 0 else { throw ImageProbeError(.malformed, "a HEIC box shorter than its header") }
        position += length
        if header.matches("ftyp", at: 4) {
            guard 8...Self.maxBrandBytes ~= length else { throw ImageProbeError(.unsupportedFormat, "brands of an odd length") }
            step = .brands
            return .bytes(length)
        }
        if header.matches("meta", at: 4), size == nil {
            guard 4...Self.maxIndexBytes ~= length else { throw ImageProbeError(.malformed, "a HEIC index of \(length) bytes") }
            step = .index
            return .bytes(length)
        }
        hasData = hasData || isData
        step = .afterBox
        return .skip(length)
    }

    private func check(brands bytes: [UInt8]) throws(ImageProbeError) {
        // The second field is the minor version, not a brand.
        var brands: [String] = []
        for offset in stride(from: 0, through: bytes.count - 4, by: 4) where offset != 4 {
            brands.append(String(decoding: bytes[offset..<(offset + 4)], as: UTF8.self))
        }
        if let major = brands.first, Self.sequenceBrands.contains(major) {
            throw ImageProbeError(.animated, "a sequence of pictures")
        }
        guard !Self.stillBrands.isDisjoint(with: brands), !brands.contains("avif") else {
            throw ImageProbeError(.unsupportedFormat, "a container of a brand that is not taken")
        }
    }
}
