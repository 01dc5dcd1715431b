/// An accepted picture format, recognised by its first bytes only.
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

    /// The file extension, without the dot.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}

/// The properties of a picture that are known from its structure, without decoding.
public struct ImageInfo: Sendable, Equatable {
    /// The format.
    public let format: ImageFormat
    /// Pixels across, before any rotation that metadata asks for.
    public let width: Int
    /// Pixels down, before any rotation that metadata asks for.
    public let height: Int
    /// Bytes of the file.
    public let byteCount: Int
    /// Bytes of the picture: what phones append behind it does not count.
    public let end: Int
    /// Whether the picture is a JPEG without an end-of-image marker, or a PNG without `IEND`. Only a decoder can tell whether a part of it
    /// is missing.
    public let isOpenEnded: Bool
    /// Approximate bytes that a decoder needs for the whole picture at once; 0 when it decodes row by row.
    ///
    /// Progressive JPEG, interlaced PNG, lossless WebP and HEIC cannot be decoded row by row.
    public let wholeBytes: Int
    /// The estimated processor time of decoding, by pixels and encoding: the same picture takes a hundred times as long in an encoding that
    /// no camera writes.
    public let cost: Duration
}

/// The size limits of a picture.
public struct ImageLimits: Sendable, Equatable {
    /// Maximum longer side, in pixels.
    public var side: Int
    /// Maximum number of pixels.
    public var pixels: Int
    /// Maximum size of the file, in bytes.
    public var bytes: Int
    /// Maximum ``ImageInfo/wholeBytes``.
    public var wholeBytes: Int
    /// Maximum number of scans of a JPEG. Encoders write up to some ten for a progressive picture.
    public var scans: Int
    /// Maximum ``ImageInfo/cost``.
    public var cost: Duration

    /// Creates limits; the defaults are the limits of the wire contract: 12,000 px a side and 40 MP. The size of the file is not limited
    /// here, but by its reader. 256 MiB hold 40 MP of all but the rarest encodings: interlaced PNG of four bands of 16 bits, progressive
    /// CMYK, HEIC of more than 8 bits. A second decodes 40 MP of HEIC, and of a JPEG of 20 scans.
    public init(
        side: Int = 12_000, pixels: Int = 40_000_000, bytes: Int = .max, wholeBytes: Int = 256 * 1024 * 1024, scans: Int = 64,
        cost: Duration = .seconds(1)
    ) {
        self.side = side
        self.pixels = pixels
        self.bytes = bytes
        self.wholeBytes = wholeBytes
        self.scans = scans
        self.cost = cost
    }

    /// The limits of a photo of a face: what phones and their cameras write, and no more. An upload has up to twelve.
    public static let face = ImageLimits(pixels: 16_000_000, scans: 12, cost: .milliseconds(400))

    /// Checks a size from a header.
    func check(width: Int, height: Int) throws(ImageProbeError) {
        guard width > 0, height > 0 else { throw ImageProbeError(.malformed, "a picture without pixels") }
        guard width <= side, height <= side, width * height <= pixels else {
            throw ImageProbeError(.tooManyPixels, "\(width)×\(height) pixels; \(side) a side and \(pixels) in all are taken")
        }
    }
}
