/// Files built byte by byte, with a complete structure and noise as pixels, which the probe never decodes.
enum TestImages {
    static func jpeg(width: Int, height: Int, frame: UInt8 = 0xC0, scanBytes: Int = 64, refinements: Int = 1) -> [UInt8] {
        let exif = segment(0xE1, Array("Exif\0\0".utf8) + thumbnail)
        let header = segment(frame, [8] + big(height, 2) + big(width, 2) + [3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
        let scan = segment(0xDA, [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0])
        // Entropy-coded data with a stuffed byte, a restart and a fill byte in it.
        let data = [UInt8](repeating: 0x5A, count: scanBytes) + [0xFF, 0x00, 0x12, 0xFF, 0xD0, 0x34, 0xFF, 0xFF]
        let tables = segment(0xDB, [UInt8](repeating: 1, count: 65)) + segment(0xC4, [UInt8](repeating: 0, count: 17))
        // A sequential frame whose first scan has all components has no other.
        let isProgressive = frame == 0xC2
        let refinement = isProgressive ? segment(0xDA, [1, 1, 0, 1, 5, 0]).dropFirst() + [0x11, 0xFF] : []
        return [0xFF, 0xD8] + exif + tables + header + scan + data + (0..<refinements).flatMap { _ in refinement } + [0xD9]
    }

    static func png(width: Int, height: Int, extra: [UInt8] = []) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + pngChunk("IHDR", big(width, 4) + big(height, 4) + [8, 2, 0, 0, 0]) + extra
            + pngChunk("IDAT", [UInt8](repeating: 7, count: 100)) + pngChunk("IDAT", [1, 2, 3]) + pngChunk("IEND", [])
    }

    static func pngChunk(_ type: String, _ data: [UInt8]) -> [UInt8] { big(data.count, 4) + type.utf8 + data + [9, 9, 9, 9] }

    static func webp(_ chunks: [(String, [UInt8])]) -> [UInt8] {
        var body: [UInt8] = []
        for (type, content) in chunks {
            body += Array(type.utf8) + little(content.count, 4) + content
            if !content.count.isMultiple(of: 2) { body.append(0) }
        }
        return Array("RIFF".utf8) + little(body.count + 4, 4) + Array("WEBP".utf8) + body
    }

    static func lossy(width: Int, height: Int) -> [UInt8] {
        [0x10, 0, 0, 0x9D, 0x01, 0x2A] + little(width, 2) + little(height, 2) + [UInt8](repeating: 5, count: 33)
    }

    static func lossless(width: Int, height: Int) -> [UInt8] {
        [0x2F] + little((width - 1) | (height - 1) << 14, 4) + [UInt8](repeating: 5, count: 20)
    }

    static func canvas(width: Int, height: Int, flags: UInt8 = 0) -> [UInt8] {
        [flags, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3)
    }

    static func heic(
        width: Int, height: Int, brands: [String] = ["heic", "mif1"], dataBytes: Int = 200, openEnded: Bool = false, extra: [UInt8] = []
    ) -> [UInt8] {
        let brandBox = box("ftyp", Array(brands[0].utf8) + [0, 0, 0, 0] + brands.flatMap { Array($0.utf8) })
        let sizes = box("ispe", [0, 0, 0, 0] + big(512, 4) + big(512, 4)) + box("ispe", [0, 0, 0, 0] + big(width, 4) + big(height, 4))
        let index = { (offset: Int) in
            let item = big(1, 2) + big(0, 2) + big(0, 2) + big(1, 2) + big(offset, 4) + big(dataBytes, 4)
            return box(
                "meta",
                [0, 0, 0, 0] + box("iprp", box("ipco", sizes))
                    + box("iloc", [1, 0, 0, 0, 0x44, 0x00] + big(1, 2) + item))
        }
        let offset = brandBox.count + index(0).count + extra.count + 8
        let data = [UInt8](repeating: 0, count: dataBytes)
        return brandBox + index(offset) + extra + (openEnded ? big(0, 4) + Array("mdat".utf8) + data : box("mdat", data))
    }

    static func box(_ type: String, _ content: [UInt8]) -> [UInt8] { big(content.count + 8, 4) + type.utf8 + content }

    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] { [0xFF, marker] + big(content.count + 2, 2) + content }

    /// A complete small JPEG, as cameras store it in the metadata of a big one.
    private static var thumbnail: [UInt8] {
        [0xFF, 0xD8] + segment(0xC0, [8] + big(30_000, 2) + big(30_000, 2) + [1, 1, 0x11, 0]) + [0xFF, 0xD9]
    }

    static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

    static func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

    /// One file of every accepted kind, each 640 × 480.
    static let samples: [(name: String, format: String, bytes: [UInt8])] = [
        ("baseline JPEG", "jpeg", jpeg(width: 640, height: 480)),
        ("progressive JPEG", "jpeg", jpeg(width: 640, height: 480, frame: 0xC2)),
        ("PNG", "png", png(width: 640, height: 480, extra: pngChunk("eXIf", [1, 2, 3]))),
        ("lossy WebP", "webp", webp([("VP8 ", lossy(width: 640, height: 480))])),
        ("lossless WebP", "webp", webp([("VP8L", lossless(width: 640, height: 480))])),
        (
            "extended WebP", "webp",
            webp([
                ("VP8X", canvas(width: 640, height: 480)), ("ICCP", [1]), ("VP8 ", lossy(width: 640, height: 480)), ("EXIF", [1, 2, 3]),
            ])
        ),
        ("HEIC", "heic", heic(width: 640, height: 480)),
        ("HEIC to the end of the file", "heic", heic(width: 640, height: 480, openEnded: true)),
        ("HEIC of the mif1 brand", "heic", heic(width: 640, height: 480, brands: ["mif1", "heic"], extra: box("free", [1]))),
    ]
}
