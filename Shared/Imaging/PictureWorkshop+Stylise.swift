internal import CVips
public import ImageProbe

extension PictureWorkshop {
    /// Gives a picture a look, by libvips alone: without a model, a key or a network, and the same each time.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - style: The look.
    ///   - width: Pixels across asked for. With a height too, the picture is cut to that shape; alone, the height follows.
    ///   - height: Pixels down asked for.
    ///   - quality: How big the result may be without a width and height, and how well it is compressed.
    ///   - limits: What the file may hold.
    ///   - isCancelled: Asked many times a second, on a thread of libvips; true ends the work soon after.
    /// - Returns: A JPEG.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge`, `corrupt`, `invalidSize`, `cancelled` or `unavailable`.
    public static func stylise(
        _ bytes: [UInt8], style: PictureStyle, width: Int? = nil, height: Int? = nil, quality: PictureQuality = .medium,
        limits: ImageLimits = ImageLimits(), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ImagingError) -> EncodedPicture {
        let watch = CancellationWatch(isCancelled)
        do {
            return try withBytes(of: bytes) { bytes throws(ImagingError) in
                let file = try PictureFile(bytes, limits: limits, watch: watch)
                let frame = try OutputFrame(of: file.upright, width: width, height: height, quality: quality)
                try watch.checkpoint()
                let picture = try file.rendered(in: frame, alpha: .white)
                let canvas = try Canvas(picture, watch: watch)
                return try PictureEncoder.encode(try style.paint(canvas), as: .jpeg, quality: quality.encoding)
            }
        } catch {
            // libvips reports work that was stopped as failed.
            try watch.checkpoint()
            throw error
        }
    }
}
