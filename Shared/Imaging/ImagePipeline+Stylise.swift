public import ImageProbe

extension ImagePipeline {
    /// Applies a style to a picture by arithmetic alone: deterministic on one kind of processor, without a model, a key or a network.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - style: The style.
    ///   - width: The requested width in pixels. With a height, the picture is cropped to that shape; alone, the height follows.
    ///   - height: The requested height in pixels.
    ///   - quality: The maximum size without a width and height, and the compression.
    ///   - limits: The limits of the file.
    ///   - isCancelled: Called many times a second; true ends the work soon after.
    /// - Returns: A JPEG.
    /// - Throws: ``ImagingError``: `unsupported`, `tooLarge`, `corrupt`, `invalidSize`, `cancelled` or `unavailable`.
    public func stylise(
        _ bytes: [UInt8], style: PictureStyle, width: Int? = nil, height: Int? = nil, quality: PictureQuality = .medium,
        limits: ImageLimits = ImageLimits(), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ImagingError) -> EncodedPicture {
        let watch = CancellationWatch(isCancelled)
        let rendering = DecodeRequest.Rendering.framed(width: width, height: height, maxSide: quality.maxSide, alpha: .white)
        let decoded = try decoder.decode(bytes, as: rendering, limits: limits, isCancelled: isCancelled)
        do {
            return try decoded.withVips { picture throws(ImagingError) in
                let canvas = try Canvas(picture, watch: watch)
                return try PictureEncoder.encode(try style.paint(canvas), as: .jpeg, quality: quality.encoding)
            }
        } catch {
            // libvips reports stopped work as failed.
            try watch.checkpoint()
            throw error
        }
    }
}
