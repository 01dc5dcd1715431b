public import ImageProbe

/// Converts untrusted pictures, from uploads or generators, to pictures that are safe to show.
///
/// Every file is treated as hostile: only JPEG, PNG, WebP and HEIC are read, recognised by their bytes; structure, size and
/// number of frames are checked on the header before a pixel is decoded; every result is upright, in sRGB with eight bits a
/// band, and carries no metadata.
///
/// All functions **block** and compute: call them on a dedicated thread (and ``ImageDecoder/leaveThread()`` before that
/// thread ends), never on the cooperative pool.
public enum ImagePipeline {
    /// The side lengths that a result may have, in pixels.
    public static let sides = 16...4_096

    /// The input of a generator, and the size of the original.
    public struct Normalised: Sendable {
        /// The picture as JPEG, flattened onto white.
        public let picture: EncodedPicture
        /// Pixels across in the file, once upright.
        public let originalWidth: Int
        /// Pixels down in the file, once upright.
        public let originalHeight: Int
    }

    /// Converts a picture of any accepted format to a plain JPEG.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - maxSide: The maximum longer side of the result, in pixels; smaller pictures keep their size.
    ///   - quality: The quality of the JPEG, 1 to 100.
    ///   - limits: The limits of the file.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge`, `corrupt` or `unavailable`.
    public static func normalise(
        _ bytes: [UInt8], maxSide: Int, quality: Int = 90, limits: ImageLimits = ImageLimits()
    ) throws(ImagingError) -> Normalised {
        try withBytes(of: bytes) { bytes throws(ImagingError) in
            let file = try PictureFile(bytes, limits: limits)
            let picture = try file.rendered(size: file.upright.fitted(into: maxSide), alpha: .white)
            return Normalised(
                picture: try PictureEncoder.encode(picture, as: .jpeg, quality: quality),
                originalWidth: file.upright.width, originalHeight: file.upright.height)
        }
    }

    /// Makes a small JPEG of the most salient part of a picture, for a notification.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - width: The exact width of the result, in pixels.
    ///   - height: The exact height of the result, in pixels.
    ///   - maxBytes: The maximum size of the result; its quality is lowered until it fits.
    ///   - limits: The limits of the file.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge` (also when no quality fits `maxBytes`), `corrupt`,
    ///   `invalidSize` or `unavailable`.
    public static func thumbnail(
        of bytes: [UInt8], width: Int = 300, height: Int = 200, maxBytes: Int = 300 << 10, limits: ImageLimits = ImageLimits()
    ) throws(ImagingError) -> EncodedPicture {
        let shape = try PixelSize(width: width, height: height).checked()
        return try withBytes(of: bytes) { bytes throws(ImagingError) in
            let picture = try PictureFile(bytes, limits: limits).covering(shape).inMemory()
            for quality in [82, 70, 55, 40, 25, 10, 1] {
                let encoded = try PictureEncoder.encode(picture, as: .jpeg, quality: quality)
                if encoded.bytes.count <= maxBytes { return encoded }
            }
            throw ImagingError(.tooLarge, "a \(shape) thumbnail does not fit \(maxBytes) bytes")
        }
    }

    /// Checks a generated picture and re-encodes it in the requested size, without metadata.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - width: The requested width in pixels. With a height, the picture is cropped to that shape; alone, the height follows.
    ///   - height: The requested height in pixels.
    ///   - quality: The maximum size without a width and height, and the compression.
    ///   - format: JPEG, where transparency becomes white; or PNG or WebP, where it is kept.
    ///   - limits: The limits of the file.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge`, `corrupt`, `invalidSize` or `unavailable`.
    public static func finish(
        _ bytes: [UInt8], width: Int? = nil, height: Int? = nil, quality: PictureQuality = .medium, format: ImageFormat = .jpeg,
        limits: ImageLimits = ImageLimits()
    ) throws(ImagingError) -> EncodedPicture {
        try withBytes(of: bytes) { bytes throws(ImagingError) in
            let file = try PictureFile(bytes, limits: limits)
            let frame = try OutputFrame(of: file.upright, width: width, height: height, quality: quality)
            let picture = try file.rendered(in: frame, alpha: format == .jpeg ? .white : .kept)
            return try PictureEncoder.encode(picture, as: format, quality: quality.encoding)
        }
    }
}
