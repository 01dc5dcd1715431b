internal import CVips

/// Decodes pictures that strangers sent.
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

    /// True once libvips is ready. It is started once, on first use.
    private static let isReady = hg_vips_start() == 0

    /// Decodes a JPEG, PNG, WebP or HEIC file, turned upright by its EXIF orientation, without metadata.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - maxSide: Pixels the longer side of the result has at most; a bigger picture is scaled down, a smaller one left.
    ///   - limits: What the file may hold; checked on its header, before memory is spent on pixels.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge`, or `corrupt` (a file that is cut off counts as such).
    public static func decodeUpright(
        _ bytes: [UInt8], maxSide: Int = 800, limits: DecodingLimits = DecodingLimits()
    ) throws(ImagingError) -> Decoded {
        guard isReady else { throw ImagingError(.unavailable, "libvips does not start") }
        guard let format = ImageFormat(sniffing: bytes) else {
            throw ImagingError(.unsupported, "not a JPEG, PNG, WebP or HEIC file")
        }
        // libvips reads the file's bytes until the pixels are computed, so all of that happens in here.
        let result = bytes.withUnsafeBytes { file in
            Result { () throws(ImagingError) in try decode(file, format, maxSide: maxSide, limits: limits) }
        }
        return try result.get()
    }

    /// Gives back what libvips keeps for the calling thread. To be called before a thread that decoded ends.
    public static func leaveThread() {
        // Before libvips was ever started the call would crash.
        if isReady { vips_thread_shutdown() }
    }

    private static func decode(
        _ file: UnsafeRawBufferPointer, _ format: ImageFormat, maxSide: Int, limits: DecodingLimits
    ) throws(ImagingError) -> Decoded {
        let header = try load(file, format, shrink: 1)
        let (width, height) = (header.width, header.height)
        try limits.check(width: width, height: height)
        guard header.pages == 1 || format == .heic else { throw ImagingError(.unsupported, "an animation") }

        // JPEG and WebP decoders scale while they decode, at a fraction of the cost.
        var shrink = 1
        if format == .jpeg || format == .webp {
            while shrink < 8, max(width, height) / (shrink * 2) >= maxSide { shrink *= 2 }
        }
        let loaded = shrink == 1 ? header : try load(file, format, shrink: shrink)
        let small = try scaled(loaded, maxSide: maxSide)
        let upright = try uprighted(small)
        let rgb = try converted(upright)
        let image = RGBImage(width: rgb.width, height: rgb.height, pixels: try rgb.bytes())
        let isTurned = (rgb.width > rgb.height) != (width > height) && rgb.width != rgb.height
        return Decoded(
            image: image, originalWidth: isTurned ? height : width, originalHeight: isTurned ? width : height)
    }

    private static func load(
        _ file: UnsafeRawBufferPointer, _ format: ImageFormat, shrink: Int
    ) throws(ImagingError) -> VipsPicture {
        let image =
            switch format {
            case .jpeg: hg_vips_load_jpeg(file.baseAddress, file.count, Int32(shrink))
            case .png: hg_vips_load_png(file.baseAddress, file.count)
            case .webp: hg_vips_load_webp(file.baseAddress, file.count, 1 / Double(shrink))
            case .heic: hg_vips_load_heif(file.baseAddress, file.count)
            }
        return try VipsPicture(image, "load")
    }

    private static func scaled(_ picture: consuming VipsPicture, maxSide: Int) throws(ImagingError) -> VipsPicture {
        let longSide = max(picture.width, picture.height)
        guard longSide > maxSide else { return picture }
        return try picture.applying("scale") { hg_vips_resize($0, Double(maxSide) / Double(longSide)) }
    }

    /// A decoder hands out rows from the top down, so a picture that has to be turned is put in memory first. By now it
    /// is small.
    private static func uprighted(_ picture: consuming VipsPicture) throws(ImagingError) -> VipsPicture {
        guard picture.orientation > 1 else { return picture }
        let inMemory = try picture.applying("decode") { vips_image_copy_memory($0) }
        return try inMemory.applying("turn") { hg_vips_turn_upright($0) }
    }

    /// Whatever it was (grey, palette, CMYK, 16 bits, transparent), it becomes three bands of eight bits.
    private static func converted(_ picture: consuming VipsPicture) throws(ImagingError) -> VipsPicture {
        let coloured = try picture.applying("colours") { hg_vips_to_srgb($0) }
        let opaque = coloured.hasAlpha ? try coloured.applying("flatten") { hg_vips_flatten($0) } : coloured
        let bytes = try opaque.applying("depth") { hg_vips_to_bytes($0) }
        guard bytes.bands > 3 else {
            guard bytes.bands == 3 else { throw ImagingError(.corrupt, "\(bytes.bands) colour bands") }
            return bytes
        }
        return try bytes.applying("bands") { hg_vips_first_bands($0, 3) }
    }
}
