public import ImageProbe

/// Turns pictures that strangers sent, or that a generator made, into pictures that may be shown.
///
/// Every file is taken for hostile: only JPEG, PNG, WebP and HEIC are read, told by their bytes; structure, size and
/// number of frames are checked on the header before a pixel is decoded; whatever comes out is upright, in sRGB, eight
/// bits a band, and carries no metadata.
///
/// Everything here **blocks** and computes: call it on a thread of your own (and ``ImageDecoder/leaveThread()`` before
/// that thread ends), never on the cooperative pool.
public enum PictureWorkshop {
    /// Pixels a side of a result may be asked to have.
    public static let sides = 16...4_096

    /// What a generator is given of a picture, and how big it was.
    public struct Normalised: Sendable {
        /// The picture as JPEG, laid on white where it was transparent.
        public let picture: EncodedPicture
        /// Pixels across in the file, once upright.
        public let originalWidth: Int
        /// Pixels down in the file, once upright.
        public let originalHeight: Int
    }

    /// Makes a plain JPEG of any picture that is taken.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - maxSide: Pixels the longer side of the result has at most; a bigger picture is scaled down, a smaller one left.
    ///   - quality: Of the JPEG, 1 to 100.
    ///   - limits: What the file may hold.
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

    /// Makes a small JPEG that shows what draws the eye in a picture, for a notification.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - width: Pixels across of the result, exactly.
    ///   - height: Pixels down of the result, exactly.
    ///   - maxBytes: Bytes the result has at most; its quality is lowered until it fits.
    ///   - limits: What the file may hold.
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

    /// Checks what a generator made, and writes it anew: its size as the job asks for, its metadata gone.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - width: Pixels across asked for. With a height too, the picture is cut to that shape; alone, the height follows.
    ///   - height: Pixels down asked for.
    ///   - quality: How big the result may be without a width and height, and how well it is compressed.
    ///   - format: JPEG, where transparency becomes white; or PNG or WebP, where it stays.
    ///   - limits: What the file may hold.
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
