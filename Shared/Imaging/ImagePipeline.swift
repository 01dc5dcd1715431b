public import ImageProbe

/// Converts untrusted pictures, from uploads or generators, to pictures that are safe to show.
///
/// Every file is treated as hostile: only JPEG, PNG, WebP and HEIC are read, recognised by their bytes; structure, size and
/// number of frames are checked on the header before a pixel is decoded; a child process decodes it; every result is upright, in sRGB
/// with eight bits a band, and carries no metadata.
///
/// All functions **block** and compute: call them on a dedicated thread (and ``leaveThread()`` before that thread ends), never on
/// the cooperative pool.
public struct ImagePipeline: Sendable {
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

    let decoder: ImageDecoder

    /// Creates a pipeline.
    ///
    /// - Parameter decoder: Decodes the files.
    public init(decoder: ImageDecoder) { self.decoder = decoder }

    /// Converts a picture of any accepted format to a plain JPEG.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - maxSide: The maximum longer side of the result, in pixels; smaller pictures keep their size.
    ///   - quality: The quality of the JPEG, 1 to 100.
    ///   - limits: The limits of the file.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge`, `corrupt` or `unavailable`.
    public func normalise(
        _ bytes: [UInt8], maxSide: Int, quality: Int = 90, limits: ImageLimits = ImageLimits()
    ) throws(ImagingError) -> Normalised {
        let rendering = DecodeRequest.Rendering.framed(width: nil, height: nil, maxSide: maxSide, alpha: .white)
        let decoded = try decoder.decode(bytes, as: rendering, limits: limits)
        return Normalised(
            picture: try decoded.withVips { picture throws(ImagingError) in
                try PictureEncoder.encode(picture, as: .jpeg, quality: quality)
            }, originalWidth: decoded.original.width, originalHeight: decoded.original.height)
    }

    /// Encodes a picture that this program has drawn, as ``normalise(_:maxSide:quality:limits:)`` encodes pictures from files.
    public func normalise(_ drawn: RGBImage, quality: Int = 90) throws(ImagingError) -> Normalised {
        let picture = try withBytes(of: drawn.pixels) { pixels throws(ImagingError) in
            let size = PixelSize(width: drawn.width, height: drawn.height)
            return try PictureEncoder.encode(try VipsPicture(pixels: pixels, size: size, bands: 3), as: .jpeg, quality: quality)
        }
        return Normalised(picture: picture, originalWidth: drawn.width, originalHeight: drawn.height)
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
    public func thumbnail(
        of bytes: [UInt8], width: Int = 300, height: Int = 200, maxBytes: Int = 300 << 10, limits: ImageLimits = ImageLimits()
    ) throws(ImagingError) -> EncodedPicture {
        let shape = try PixelSize(width: width, height: height).checked()
        let rendering = DecodeRequest.Rendering.framed(width: width, height: height, maxSide: shape.longSide, alpha: .white)
        return try decoder.decode(bytes, as: rendering, limits: limits).withVips { picture throws(ImagingError) in
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
    public func finish(
        _ bytes: [UInt8], width: Int? = nil, height: Int? = nil, quality: PictureQuality = .medium, format: ImageFormat = .jpeg,
        limits: ImageLimits = ImageLimits()
    ) throws(ImagingError) -> EncodedPicture {
        let rendering = DecodeRequest.Rendering.framed(
            width: width, height: height, maxSide: quality.maxSide, alpha: format == .jpeg ? .white : .kept)
        return try decoder.decode(bytes, as: rendering, limits: limits).withVips { picture throws(ImagingError) in
            try PictureEncoder.encode(picture, as: format, quality: quality.encoding)
        }
    }

    /// Releases what libvips keeps for the calling thread. Call it before a thread that processed pictures ends.
    public static func leaveThread() { VipsLibrary.leaveThread() }
}

extension DecodedPicture {
    /// Runs `body` with the pixels as a picture of libvips, which must not leave it.
    func withVips<Result>(_ body: (VipsPicture) throws(ImagingError) -> Result) throws(ImagingError) -> Result {
        try withBytes(of: pixels) { pixels throws(ImagingError) in
            try body(try VipsPicture(pixels: pixels, size: size, bands: bands))
        }
    }
}
