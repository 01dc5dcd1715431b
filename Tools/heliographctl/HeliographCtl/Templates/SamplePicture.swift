internal import CZlib

/// A drawn landscape, in which a style shows on a gradient, edges and a round form, without anybody's photo.
enum SamplePicture {
    private static let (width, height) = (640, 480)

    /// The picture as a PNG file.
    static var png: [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity(height * (1 + 3 * width))
        for y in 0..<height {
            // Each row begins with its filter, of which 0 is none (PNG, §9.2).
            rows.append(0)
            for x in 0..<width { rows += pixel(x, y) }
        }
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // Eight bits a band, red, green and blue, not interlaced.
        file += chunk("IHDR", bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0])
        return file + chunk("IDAT", compressed(rows)) + chunk("IEND", [])
    }

    /// A sky with a sun above hills and a lake.
    private static func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let (fromSunX, fromSunY) = (x - 470, y - 120)
        if fromSunX * fromSunX + fromSunY * fromSunY < 60 * 60 { return [255, 222, 120] }
        // Two parabolas for the hills.
        let far = 230 + (x - 180) * (x - 180) / 900
        let near = 290 + (x - 520) * (x - 520) / 1_200
        if y > 400 { return [UInt8(60 + (y - 400) / 2), 120, UInt8(170 + x % 32)] }
        if y > near { return [52, UInt8(110 + (y - near) / 4), 62] }
        if y > far { return [96, UInt8(min(160, 120 + (y - far) / 4)), 112] }
        return [UInt8(110 + y / 4), UInt8(160 + y / 6), 235]
    }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var size = compressBound(UInt(bytes.count))
        var result = [UInt8](repeating: 0, count: Int(size))
        let status = compress(&result, &size, bytes, UInt(bytes.count))
        precondition(status == Z_OK, "the bound holds for every input")
        return Array(result.prefix(Int(size)))
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return bigEndian(data.count) + body + bigEndian(Int(crc32_z(0, body, body.count)))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
