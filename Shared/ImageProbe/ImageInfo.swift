/// A picture format that is taken, told by its first bytes and by nothing else.
public enum ImageFormat: String, Sendable, Equatable, CaseIterable {
    /// JPEG, baseline, extended or progressive.
    case jpeg
    /// PNG without animation.
    case png
    /// WebP without animation.
    case webp
    /// HEIF with HEVC pictures, as phones write it.
    case heic

    /// The MIME type.
    public var mimeType: String { "image/\(rawValue)" }

    /// What a file's name ends with, without the dot.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}

/// What a picture is, as far as its structure tells without decoding it.
public struct ImageInfo: Sendable, Equatable {
    /// The format.
    public let format: ImageFormat
    /// Pixels across, before any rotation that metadata asks for.
    public let width: Int
    /// Pixels down, before any rotation that metadata asks for.
    public let height: Int
    /// Bytes of the file.
    public let byteCount: Int
    /// Bytes of memory that a decoder must spend on all of the picture at once, at least nearly; 0 when it decodes row by row.
    ///
    /// Progressive JPEG, interlaced PNG, lossless WebP and HEIC cannot be decoded row by row.
    public let wholeBytes: Int
}

/// How big a picture may be.
public struct ImageLimits: Sendable, Equatable {
    /// Pixels of the longer side.
    public var side: Int
    /// Pixels in all.
    public var pixels: Int
    /// Bytes of the file.
    public var bytes: Int
    /// Bytes of ``ImageInfo/wholeBytes``.
    public var wholeBytes: Int

    /// Makes limits; the defaults are those of the wire contract: 12,000 px a side, 40 MP, 10 MiB. In 256 MiB fit 40 MP
    /// of all but the rarest encodings: interlaced PNG of four bands of 16 bits, progressive CMYK, HEIC of more than 8 bits.
    public init(
        side: Int = 12_000, pixels: Int = 40_000_000, bytes: Int = 10 * 1024 * 1024, wholeBytes: Int = 256 * 1024 * 1024
    ) {
        self.side = side
        self.pixels = pixels
        self.bytes = bytes
        self.wholeBytes = wholeBytes
    }

    /// Checks one claimed size.
    func check(width: Int, height: Int) throws(ImageProbeError) {
        guard width > 0, height > 0 else { throw ImageProbeError(.malformed, "a picture without pixels") }
        guard width <= side, height <= side, width * height <= pixels else {
            throw ImageProbeError(.tooManyPixels, "\(width)×\(height) pixels; \(side) a side and \(pixels) in all are taken")
        }
    }
}
