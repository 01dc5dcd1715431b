/// Parses the boxes of a HEIC file (ISO/IEC 14496-12, 23008-12): brands, the index of items, and the extent of their data.
struct HEICReader: FormatReader {
    /// Maximum size of an index (`meta` box) in bytes; phones write about 4 KiB.
    static let maxIndexBytes = 512 * 1024
    private static let maxBrandBytes = 256
    private static let stillBrands: Set<String> = ["heic", "heix", "heim", "heis"]
    private static let sequenceBrands: Set<String> = ["hevc", "hevx", "hevm", "hevs", "msf1"]

    private enum Step { case start, boxHeader, longLength([UInt8]), brands, index, afterBox, end }

    private var step = Step.start
    /// The end of the items' data.
    private var dataEnd = 0
    private var hasData = false
    /// The end of the last box after which the file may end.
    private var end: Int?
    private(set) var size: (width: Int, height: Int)?
    private var pixelBytes = 0

    var wholeBytes: Int { (size?.width ?? 0) * (size?.height ?? 0) * pixelBytes }

    let nanosecondsPerPixel = 22

    func end(in byteCount: Int) -> Int? { end }

    mutating func step(_ bytes: [UInt8], at position: Int, limits: ImageLimits) throws(ImageProbeError) -> Demand {
        switch step {
        case .start, .afterBox:
            return nextBox(at: position)
        case .boxHeader:
            let length = bytes.bigEndian(at: 0, count: 4)
            if length == 1 {
                step = .longLength(bytes)
                return .bytes(8)
            }
            return try take(box: bytes, length: length == 0 ? nil : length - 8, at: position)
        case .longLength(let header):
            let length = bytes[0] == 0 ? bytes.bigEndian(at: 0, count: 8) - 16 : -1
            return try take(box: header, length: length, at: position)
        case .brands:
            try check(brands: bytes)
            return nextBox(at: position)
        case .index:
            let index = try HEICIndex(bytes, limits: limits)
            size = index.size
            pixelBytes = index.pixelBytes
            dataEnd = index.dataEnd
            return nextBox(at: position)
        case .end:
            end = position
            return .nothing
        }
    }

    private mutating func nextBox(at position: Int) -> Demand {
        if size != nil, hasData, position >= dataEnd { end = position }
        step = .boxHeader
        return .bytes(8)
    }

    private mutating func take(box header: [UInt8], length: Int?, at position: Int) throws(ImageProbeError) -> Demand {
        if header.matches("moov", at: 4) { throw ImageProbeError(.animated, "a sequence of pictures") }
        // Phones append arbitrary data behind the picture, in boxes or without.
        if end != nil {
            guard let length, length >= 0, header[4...].allSatisfy({ 0x20...0x7E ~= $0 }) else { return .nothing }
            step = .afterBox
            return .skip(length)
        }
        let isData = header.matches("mdat", at: 4)
        guard let length else {
            // A box without a length extends to the end of the file; only the data of known pictures may.
            guard isData, size != nil else { throw ImageProbeError(.malformed, "an open-ended HEIC box") }
            hasData = true
            step = .end
            return .skip(max(dataEnd - position, 0))
        }
        guard length >= 0 else { throw ImageProbeError(.malformed, "a HEIC box of an impossible length") }
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
