internal import CVips
public import ImageProbe

/// Decodes untrusted pictures to plain pixels, for the face engine.
///
/// All functions **block** and compute: call them on a dedicated thread, never on the cooperative pool.
public enum ImageDecoder {
    /// A decoded picture and its size in the file.
    public struct Decoded: Sendable {
        /// The picture, upright, scaled down if it was larger than `maxSide`.
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
    ///   - maxSide: The maximum longer side of the result, in pixels; smaller pictures keep their size.
    ///   - minSide: The minimum shorter side of the file's picture, in pixels; a smaller one is `corrupt`.
    ///   - limits: The limits of the file; checked on its header, before memory is allocated for pixels.
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

    /// Releases what libvips keeps for the calling thread. Call it before a thread that processed pictures ends.
    public static func leaveThread() { VipsLibrary.leaveThread() }

    private static func decode(_ file: PictureFile, maxSide: Int) throws(ImagingError) -> Decoded {
        let longSide = file.stored.longSide
        var picture = try file.picture(shrunkBy: Double(longSide) / Double(maxSide))
        let loaded = max(picture.width, picture.height)
        if loaded > maxSide {
            picture = try picture.applying("resize", ["scale": .number(Double(maxSide) / Double(loaded)), "kernel": .choice("linear")])
        }
        // Rows are decoded top down, so a picture that must be rotated is first copied to memory; it is small at this point.
        if file.orientation > 1 { picture = try picture.inMemory().applying("autorot") }
        picture = try rgb(picture)
        let image = RGBImage(width: picture.width, height: picture.height, pixels: try picture.bytes())
        return Decoded(image: image, originalWidth: file.upright.width, originalHeight: file.upright.height)
    }

    /// Converts any picture (grey, palette, CMYK, 16 bits, transparent) to three bands of eight bits.
    private static func rgb(_ picture: VipsPicture) throws(ImagingError) -> VipsPicture {
        let coloured = try picture.applying("colourspace", ["space": .choice("srgb")])
        let opaque = coloured.hasAlpha ? try coloured.applying("flatten") : coloured
        return try opaque.applying("cast", ["format": .choice("uchar")]).threeBands()
    }
}

/// Runs `body` with a stable pointer to the bytes of a file, which libvips reads until the pixels are computed.
func withBytes<Result>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Result
) throws(ImagingError) -> Result {
    defer { trimHeap() }
    let result = bytes.withUnsafeBytes { file in Swift.Result { () throws(ImagingError) in try body(file) } }
    return try result.get()
}

/// Returns freed memory to the system. Each thread of libvips keeps freed memory in its own heap, some tens of megabytes a
/// picture; a worker that runs all day would keep several hundred.
private func trimHeap() {
    #if canImport(Glibc)
        malloc_trim(0)
    #endif
}
