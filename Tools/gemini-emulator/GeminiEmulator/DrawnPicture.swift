/// Draws pictures that any decoder accepts, without a library: uncompressed PNG files.
public enum DrawnPicture {
    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
    }

    /// Returns a gradient of two colours derived from the seed, so that pictures of different requests differ.
    public static func png(width: Int, height: Int, seed: [UInt8]) -> [UInt8] {
        let colours = (0..<6).map { Int(seed.isEmpty ? 128 : seed[$0 % seed.count]) }
        var rows: [UInt8] = []
        rows.reserveCapacity(height * (width * 3 + 1))
        for y in 0..<height {
            let share = y * 256 / max(1, height)
            let colour = (0..<3).map { UInt8((colours[$0] * (256 - share) + colours[$0 + 3] * share) / 256) }
            rows.append(0)
            for _ in 0..<width { rows += colour }
        }
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // Eight bits per channel; red, green and blue.
        append("IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 2, 0, 0, 0], to: &file)
        append("IDAT", stored(rows), to: &file)
        append("IEND", [], to: &file)
        return file
    }

    private static func append(_ type: String, _ content: [UInt8], to file: inout [UInt8]) {
        let body = Array(type.utf8) + content
        file += bigEndian(UInt32(content.count)) + body + bigEndian(crc(body))
    }

    /// Returns a zlib stream of stored blocks (RFC 1950, RFC 1951 §3.2.4).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = [0x78, 0x01]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            output += [rest.isEmpty ? 1 : 0, UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8)]
            output += block
        } while !rest.isEmpty
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return output + bigEndian(high << 16 | low)
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(0xFFFF_FFFF) { crcTable[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }
}
