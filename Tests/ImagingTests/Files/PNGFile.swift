/// Writes PNG files byte by byte, so that tests can also write invalid ones.
enum PNGFile {
    /// Returns a file with a size in its header and hardly any pixels.
    static func header(width: Int, height: Int) -> [UInt8] {
        signature + chunk("IHDR", bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0])
            + chunk("IDAT", stored([0, 0, 0])) + chunk("IEND", [])
    }

    /// Returns a complete picture: `bands` 1 is grey, 2 grey with alpha, 3 colour, 4 colour with alpha.
    static func encode(width: Int, height: Int, bands: Int, extra: [UInt8] = [], level: (Int, Int, Int) -> UInt8) -> [UInt8] {
        let colourType: [Int: UInt8] = [1: 0, 2: 4, 3: 2, 4: 6]
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width { for band in 0..<bands { rows.append(level(x, y, band)) } }
        }
        return file(width, height, depth: 8, colourType[bands] ?? 2, extra: extra, rows)
    }

    /// Returns a colour picture with sixteen bits per band.
    static func encode16(width: Int, height: Int, level: (Int, Int, Int) -> UInt16) -> [UInt8] {
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width {
                for band in 0..<3 { rows += [UInt8(level(x, y, band) >> 8), UInt8(level(x, y, band) & 0xFF)] }
            }
        }
        return file(width, height, depth: 16, 2, extra: [], rows)
    }

    /// Returns a chunk with a colour profile.
    static func profile(_ bytes: [UInt8]) -> [UInt8] { chunk("iCCP", Array("test".utf8) + [0, 0] + stored(bytes)) }

    private static func file(
        _ width: Int, _ height: Int, depth: UInt8, _ colourType: UInt8, extra: [UInt8], _ rows: [UInt8]
    ) -> [UInt8] {
        signature + chunk("IHDR", bigEndian(width) + bigEndian(height) + [depth, colourType, 0, 0, 0]) + extra
            + chunk("IDAT", stored(rows)) + chunk("IEND", [])
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func bigEndian(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        return bigEndian(content.count) + body + bigEndian(Int(crc(body)))
    }

    /// Returns a zlib stream of uncompressed blocks.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        var start = 0
        while start < bytes.count {
            let end = min(start + 65_535, bytes.count)
            let count = end - start
            result += [end == bytes.count ? 1 : 0, UInt8(count & 0xFF), UInt8(count >> 8)]
            result += [UInt8(~count & 0xFF), UInt8(~count >> 8 & 0xFF)]
            result += bytes[start..<end]
            start = end
        }
        var (low, high) = (1, 0)
        for byte in bytes {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return result + bigEndian(high << 16 | low)
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }
}
