/// The size of a photo in pixels, before any rotation that its metadata ask for.
struct PhotoSize: Sendable, Equatable {
    let width: Int
    let height: Int

    var longSide: Int { max(width, height) }
    var pixels: Int { width * height }

    /// Nil for numbers that are no size.
    init?(width: Int, height: Int) {
        // The product of two of these is an Int.
        let sides = 1...1 << 30
        guard sides ~= width, sides ~= height else { return nil }
        (self.width, self.height) = (width, height)
    }
}

/// Reads the size of a photo from its head, without decoding it. It makes no checks: the API does.
extension PhotoSize {
    /// Far more bytes than phones write before the size; depth maps and previews may be many segments.
    private static let maxSegments = 4_096

    /// Nil where the size is not found.
    init?(of photo: PhotoReader, _ format: PictureFormat) {
        let size =
            switch format {
            case .jpeg: Self.jpeg(photo)
            case .png: Self.png(photo)
            case .webp: Self.webp(photo)
            case .heic: Self.heic(photo)
            }
        guard let size else { return nil }
        self = size
    }

    /// The frame header is behind the metadata (ITU T.81, B.2.2).
    private static func jpeg(_ photo: PhotoReader) -> PhotoSize? {
        var offset = 2
        for _ in 0..<maxSegments {
            guard let head = photo.bytes(4, at: offset), head[0] == 0xFF else { return nil }
            switch head[1] {
            case 0xFF: offset += 1
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let frame = photo.bytes(5, at: offset + 4) else { return nil }
                return PhotoSize(width: frame[3...4].bigEndian, height: frame[1...2].bigEndian)
            // The scan, or the end of the picture.
            case 0xD9, 0xDA: return nil
            default: offset += 2 + max(head[2...3].bigEndian, 2)
            }
        }
        return nil
    }

    private static func png(_ photo: PhotoReader) -> PhotoSize? {
        guard let head = photo.bytes(24, at: 0), head[12..<16].elementsEqual("IHDR".utf8) else { return nil }
        return PhotoSize(width: head[16..<20].bigEndian, height: head[20..<24].bigEndian)
    }

    /// The first chunk says the size (RFC 9649).
    private static func webp(_ photo: PhotoReader) -> PhotoSize? {
        guard let head = photo.bytes(30, at: 0) else { return nil }
        switch String(decoding: head[12..<16], as: UTF8.self) {
        case "VP8X": return PhotoSize(width: head[24..<27].littleEndian + 1, height: head[27..<30].littleEndian + 1)
        case "VP8L":
            let bits = head[21..<25].littleEndian
            return PhotoSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        case "VP8 ": return PhotoSize(width: head[26..<28].littleEndian & 0x3FFF, height: head[28..<30].littleEndian & 0x3FFF)
        default: return nil
        }
    }
}

extension Collection<UInt8> {
    /// The unsigned number of these bytes, seven at most.
    var bigEndian: Int { reduce(0) { $0 << 8 | Int($1) } }
}

extension BidirectionalCollection<UInt8> {
    /// The unsigned number of these bytes, seven at most.
    var littleEndian: Int { reversed().bigEndian }
}
