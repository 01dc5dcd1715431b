/// The RIFF container of a WebP file that libvips wrote.
enum WebPContainer {
    private static let headerBytes = 12
    /// The alpha flag of the `VP8X` chunk, the only one that concerns the pixels.
    private static let alphaFlag: UInt8 = 0x10
    private static let kept = ["VP8X", "ALPH", "VP8 ", "VP8L"].map { Array($0.utf8) }

    /// Returns the file with its pixel chunks only: libvips' saver always writes its own EXIF.
    static func withoutMetadata(_ file: [UInt8]) throws(ImagingError) -> [UInt8] {
        var result = Array(file.prefix(headerBytes))
        var offset = headerBytes
        while offset + 8 <= file.count {
            let length = (4..<8).reversed().reduce(0) { $0 << 8 | Int(file[offset + $1]) }
            let end = offset + 8 + length + length & 1
            guard end <= file.count else { throw ImagingError(.unavailable, "libvips wrote a WebP with inconsistent chunk lengths") }
            if kept.contains(Array(file[offset..<(offset + 4)])) {
                let start = result.count
                result += file[offset..<end]
                if file[offset + 3] == UInt8(ascii: "X") { result[start + 8] &= alphaFlag }
            }
            offset = end
        }
        for place in 0..<4 { result[4 + place] = UInt8(truncatingIfNeeded: (result.count - 8) >> (8 * place)) }
        return result
    }
}
