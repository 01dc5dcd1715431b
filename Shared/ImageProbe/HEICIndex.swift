/// The size of the pictures of a HEIC file and the end of their data, parsed from its `meta` box.
struct HEICIndex {
    /// Maximum number of boxes; a grid of tiles has one location per item and a few properties.
    private static let maxBoxes = 4_096
    /// Maximum number of items from which a picture is put together, such as the tiles of a grid: the decoder decodes an item again each
    /// time that it is named. A phone's picture of 48 megapixels has 192 tiles.
    private static let maxParts = 512
    /// Maximum number of pictures of which one is made of the next: a gain map and its picture are grids, whose parts are tiles.
    private static let maxDepth = 8

    private(set) var size: (width: Int, height: Int)
    private(set) var dataEnd = 0
    /// Bytes per pixel that decoding needs: the decoder's planes, a copy of them, and three bands.
    var pixelBytes: Int { (planes + 3) * (isDeep ? 2 : 1) }
    /// Samples per pixel in the planes and their copy: luma, and chroma at a quarter, half or all of its resolution.
    private var planes = 3
    private var isDeep = false
    private var boxes = 0

    /// Parses the content of a `meta` box.
    ///
    /// The size is that of the biggest picture: tiles, thumbnails and depth maps are smaller than their picture.
    init(_ bytes: [UInt8], limits: ImageLimits) throws(ImageProbeError) {
        size = (0, 0)
        // The first four bytes are the version and flags of a "full box".
        try walk(bytes, in: 4..<bytes.count, limits: limits)
        guard size.width > 0 else { throw ImageProbeError(.malformed, "a HEIC index without a picture's size") }
    }

    private mutating func walk(_ bytes: [UInt8], in range: Range<Int>, limits: ImageLimits) throws(ImageProbeError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            boxes += 1
            guard boxes <= Self.maxBoxes, offset + 8 <= range.upperBound else {
                throw ImageProbeError(.malformed, "a HEIC index with too many or cut boxes")
            }
            let length = try Self.length(in: bytes, at: offset, upTo: range.upperBound)
            let content = (offset + 8)..<(offset + length)
            if bytes.matches("iprp", at: offset + 4) || bytes.matches("ipco", at: offset + 4) {
                try walk(bytes, in: content, limits: limits)
            } else if bytes.matches("ispe", at: offset + 4) {
                try take(extent: Array(bytes[content]), limits: limits)
            } else if bytes.matches("hvcC", at: offset + 4) {
                take(decoder: bytes[content])
            } else if bytes.matches("iloc", at: offset + 4) {
                var locations = ItemLocations(Array(bytes[content]))
                dataEnd = try locations.end()
            } else if bytes.matches("iinf", at: offset + 4) {
                try check(items: Array(bytes[content]))
            } else if bytes.matches("iref", at: offset + 4) {
                try check(references: Array(bytes[content]))
            }
            offset += length
        }
    }

    /// Refuses items that are made of others in a way that no phone uses: an overlay, or another item once more (ISO/IEC 23008-12, 6.6.2).
    /// A few bytes of them cost the decoder minutes.
    private func check(items bytes: [UInt8]) throws(ImageProbeError) {
        // The version and flags, and the number of entries in two or four bytes.
        var offset = bytes.first == 0 ? 6 : 8
        while offset + 8 <= bytes.count {
            let length = try Self.length(in: bytes, at: offset, upTo: bytes.count)
            // The version and flags of an entry; its id, in four bytes from version 3 on; its protection; its type, from version 2 on.
            let version = length > 8 ? bytes[offset + 8] : 0
            let type = offset + (version > 2 ? 18 : 16)
            let isOverlay = bytes.matches("iovl", at: type) || bytes.matches("iden", at: type)
            if version > 1, type + 4 <= offset + length, isOverlay {
                throw ImageProbeError(.tooCostly, "a HEIC picture that is an overlay of others")
            }
            offset += length
        }
    }

    /// Refuses a picture of too many parts, those of its parts included: of grids of grids the numbers multiply.
    private func check(references bytes: [UInt8]) throws(ImageProbeError) {
        let idBytes = bytes.first == 0 ? 2 : 4
        var offset = 4
        var parts: [Int: [Int]] = [:]
        while offset + 8 <= bytes.count {
            let length = try Self.length(in: bytes, at: offset, upTo: bytes.count)
            if bytes.matches("dimg", at: offset + 4), length >= 10 + idBytes {
                // The item, the number of its parts, their ids.
                let ids = stride(from: offset + 10 + idBytes, through: offset + length - idBytes, by: idBytes)
                parts[bytes.bigEndian(at: offset + 8, count: idBytes), default: []] += ids.map { bytes.bigEndian(at: $0, count: idBytes) }
            }
            offset += length
        }
        var left = parts.count > Self.maxParts ? -1 : Self.maxParts
        for id in parts.keys where left >= 0 {
            left = Self.maxParts
            Self.count(id, in: parts, depth: 0, &left)
        }
        guard left >= 0 else { throw ImageProbeError(.tooCostly, "a HEIC picture of more than \(Self.maxParts) parts") }
    }

    /// Takes the number of an item's parts from `left`, and stops below zero.
    private static func count(_ id: Int, in parts: [Int: [Int]], depth: Int, _ left: inout Int) {
        guard let own = parts[id], !own.isEmpty else { return left -= 1 }
        guard depth < maxDepth else { return left = -1 }
        for part in own where left >= 0 { count(part, in: parts, depth: depth + 1, &left) }
    }

    /// The length of the box at an offset, which ends at `end` at the latest.
    private static func length(in bytes: [UInt8], at offset: Int, upTo end: Int) throws(ImageProbeError) -> Int {
        let length = bytes.bigEndian(at: offset, count: 4)
        guard length >= 8, length <= end - offset else {
            throw ImageProbeError(.malformed, "a HEIC index whose boxes do not add up")
        }
        return length
    }

    /// Reads a decoder configuration (ISO/IEC 14496-15, 8.3.3) and keeps the maximum of all pictures of the file.
    private mutating func take(decoder bytes: ArraySlice<UInt8>) {
        guard bytes.count > 18 else { return }
        let (chroma, depths) = (bytes[bytes.startIndex + 16] & 3, bytes[(bytes.startIndex + 17)...].prefix(2))
        planes = max(planes, chroma == 3 ? 6 : chroma == 2 ? 4 : 3)
        if depths.contains(where: { $0 & 7 != 0 }) { isDeep = true }
    }

    private mutating func take(extent bytes: [UInt8], limits: ImageLimits) throws(ImageProbeError) {
        guard bytes.count >= 12 else { throw ImageProbeError(.malformed, "a HEIC size that is cut") }
        let found = (width: bytes.bigEndian(at: 4, count: 4), height: bytes.bigEndian(at: 8, count: 4))
        try limits.check(width: found.width, height: found.height)
        if found.width * found.height > size.width * size.height { size = found }
    }
}

/// Parses an `iloc` box: the locations of the items' data in the file.
private struct ItemLocations {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the offset after the last byte of all items in the file.
    mutating func end() throws(ImageProbeError) -> Int {
        let version = try next(1)
        _ = try next(3)
        let sizes = try next(2)
        let (offsetBytes, lengthBytes) = (sizes >> 12 & 15, sizes >> 8 & 15)
        let (baseBytes, indexBytes) = (sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
        guard version <= 2, [offsetBytes, lengthBytes, baseBytes, indexBytes].allSatisfy([0, 4, 8].contains) else {
            throw ImageProbeError(.malformed, "HEIC item locations of an unknown kind")
        }
        var end = 0
        for _ in 0..<(try next(version == 2 ? 4 : 2)) {
            _ = try next(version == 2 ? 4 : 2)
            // Only construction method 0 points into the file; the others point into the index or into other items.
            let isInFile = version == 0 ? true : try next(2) & 15 == 0
            _ = try next(2)
            let base = try next(baseBytes)
            let extents = try next(2)
            // Extents without any bytes are all the same; counting them would take minutes for an index of 512 KiB.
            for _ in 0..<(indexBytes + offsetBytes + lengthBytes == 0 ? min(extents, 1) : extents) {
                _ = try next(indexBytes)
                let extent = try next(offsetBytes)
                let (start, overflow) = base.addingReportingOverflow(extent)
                let (extentEnd, overflow2) = start.addingReportingOverflow(try next(lengthBytes))
                guard !overflow, !overflow2 else { throw ImageProbeError(.malformed, "a HEIC item beyond any file") }
                if isInFile { end = max(end, extentEnd) }
            }
        }
        return end
    }

    private mutating func next(_ count: Int) throws(ImageProbeError) -> Int {
        guard count <= bytes.count - offset else { throw ImageProbeError(.malformed, "HEIC item locations that are cut") }
        // The top bit of an eight-byte number would make it negative; no file is that long.
        guard count < 8 || bytes[offset] < 0x80 else { throw ImageProbeError(.malformed, "a HEIC item beyond any file") }
        defer { offset += count }
        return bytes.bigEndian(at: offset, count: count)
    }
}
