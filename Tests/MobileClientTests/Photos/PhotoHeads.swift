import Foundation

/// The first bytes of photos of any size, up to where they say it. A phone's photos with their pixels would be megabytes.
enum PhotoHeads {
    /// A JPEG as cameras write it: the preview in its metadata has a size of its own.
    static func jpeg(_ width: Int, _ height: Int, metadata: Int = 1) -> Data {
        let preview = [0xFF, 0xD8] + frame(160, 120) + [0xFF, 0xD9]
        let segments = (0..<metadata).flatMap { _ in segment(0xE1, preview + [UInt8](repeating: 0, count: 60_000)) }
        return Data([0xFF, 0xD8] + segments + segment(0xC4, [1, 2, 3]) + [0xFF] + frame(width, height) + [0xFF, 0xDA])
    }

    static func png(_ width: Int, _ height: Int) -> Data {
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [0, 0, 0, 13] + "IHDR".utf8 + big(width, 4) + big(height, 4))
    }

    /// A WebP of one of three kinds: `VP8 `, `VP8L` and `VP8X`.
    static func webp(_ kind: String, _ width: Int, _ height: Int) -> Data {
        let size: [UInt8] =
            switch kind {
            case "VP8 ": [0, 0, 0, 0x9D, 0x01, 0x2A] + little(width, 2) + little(height, 2)
            case "VP8L": [0x2F] + little((width - 1) | (height - 1) << 14, 4) + [0, 0, 0, 0, 0]
            default: [0, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3)
            }
        return Data(Array("RIFF".utf8) + [0, 0, 1, 0] + "WEBP".utf8 + kind.utf8 + little(size.count, 4) + size)
    }

    /// A HEIC as phones write it: of tiles, with a gain map.
    static func heic(_ width: Int, _ height: Int) -> Data {
        let sizes = [(512, 512), (width, height), (width / 2, height / 2)]
        let properties = sizes.flatMap { box("ispe", [0, 0, 0, 0] + big($0.0, 4) + big($0.1, 4)) + box("irot", [1]) }
        return Data(
            box("ftyp", Array("heic".utf8) + [0, 0, 0, 0] + "mif1heic".utf8) + box("free", [0])
                + box("meta", [0, 0, 0, 0] + box("hdlr", [0]) + box("iprp", box("ipco", properties))))
    }

    private static func frame(_ width: Int, _ height: Int) -> [UInt8] { segment(0xC0, [8] + big(height, 2) + big(width, 2) + [1]) }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] { [0xFF, marker] + big(content.count + 2, 2) + content }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] { big(content.count + 8, 4) + type.utf8 + content }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
}
