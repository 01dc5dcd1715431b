/// A file format, told by the first bytes of a file and never by its name.
public enum ImageFormat: Sendable, Equatable {
    /// JPEG (baseline or progressive).
    case jpeg
    /// PNG.
    case png
    /// WebP.
    case webp
    /// HEIC: a still picture compressed with HEVC.
    case heic

    /// The still-picture brands of HEIC files. `mif1` says "a still picture" of any codec, and is what some cameras write first.
    private static let heicBrands = ["heic", "heix", "heim", "heis", "mif1"].map { Array($0.utf8) }

    /// Recognises a format; nil when it is none of those taken.
    public init?(sniffing bytes: [UInt8]) {
        func has(_ prefix: [UInt8], at offset: Int = 0) -> Bool {
            bytes.count >= offset + prefix.count && bytes[offset..<(offset + prefix.count)].elementsEqual(prefix)
        }
        if has([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if has(Array("RIFF".utf8)), has(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else if has(Array("ftyp".utf8), at: 4), Self.heicBrands.contains(where: { has($0, at: 8) }) {
            self = .heic
        } else {
            return nil
        }
    }
}
