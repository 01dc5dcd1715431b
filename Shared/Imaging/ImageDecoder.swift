internal import CVips
public import ImageProbe

/// Decodes pictures that strangers sent into plain pixels, for the face engine.
///
/// Everything here **blocks** and computes: call it on a thread of your own, never on the cooperative pool.
public enum ImageDecoder {
    /// A decoded picture and how big it was in its file.
    public struct Decoded: Sendable {
        /// The picture, upright, scaled down if it was bigger than asked for.
        public let image: RGBImage
        /// Pixels across in the file, once upright.
        public let originalWidth: Int
        /// Pixels down in the file, once upright.
        public let originalHeight: Int
    }

    /// Decodes a JPEG, PNG, WebP or HEIC file, turned upright by its EXIF orientation, without metadata.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - maxSide: Pixels the longer side of the result has at most; a bigger picture is scaled down, a smaller one left.
    ///   - minSide: Pixels the shorter side of the file's picture has at least; a smaller one is `corrupt`.
    ///   - limits: What the file may hold; checked on its header, before memory is spent on pixels.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge`, or `corrupt` (a file that is cut off counts as such).
    public static func decodeUpright(
        _ bytes: [UInt8], maxSide: Int = 800, minSide: Int = 1, limits: ImageLimits = ImageLimits()
    ) throws(ImagingError) -> Decoded {
        try withBytes(of: bytes) { file throws(ImagingError) in
            let file = try PictureFile(file, limits: limits)
            guard min(file.stored.width, file.stored.height) >= minSide else {
                throw ImagingError(.corrupt, "\(file.stored) pixels are fewer than the limit")
            }
            return try decode(file, maxSide: maxSide)
        }
    }

    /// Gives back what libvips keeps for the calling thread. To be called before a thread that worked on pictures ends.
    public static func leaveThread() { VipsLibrary.leaveThread() }

    private static func decode(_ file: PictureFile, maxSide: Int) throws(ImagingError) -> Decoded {
        let longSide = file.stored.longSide
        var picture = try file.picture(shrunkBy: Double(longSide) / Double(maxSide))
        let loaded = max(picture.width, picture.height)
        if loaded > maxSide {
            picture = try picture.applying("resize", ["scale": .number(Double(maxSide) / Double(loaded)), "kernel": .choice("linear")])
        }
        // Rows come from the top down, so a picture that has to be turned is put in memory first. By now it is small.
        if file.orientation > 1 { picture = try picture.inMemory().applying("autorot") }
        picture = try rgb(picture)
        let image = RGBImage(width: picture.width, height: picture.height, pixels: try picture.bytes())
        return Decoded(image: image, originalWidth: file.upright.width, originalHeight: file.upright.height)
    }

    /// Whatever it was (grey, palette, CMYK, 16 bits, transparent), it becomes three bands of eight bits.
    private static func rgb(_ picture: VipsPicture) throws(ImagingError) -> VipsPicture {
        let coloured = try picture.applying("colourspace", ["space": .choice("srgb")])
        let opaque = coloured.hasAlpha ? try coloured.applying("flatten") : coloured
        return try opaque.applying("cast", ["format": .choice("uchar")]).threeBands()
    }
}

/// Runs a body that needs the bytes of a file to stay where they are: libvips reads them until the pixels are computed.
func withBytes<Result>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Result
) throws(ImagingError) -> Result {
    defer { giveMemoryBack() }
    let result = bytes.withUnsafeBytes { file in Swift.Result { () throws(ImagingError) in try body(file) } }
    return try result.get()
}

/// Each of libvips' threads leaves freed memory behind in a heap of its own, some tens of megabytes a picture; a worker
/// that works on pictures all day would hold several hundred.
private func giveMemoryBack() {
    #if canImport(Glibc)
        malloc_trim(0)
    #endif
}
