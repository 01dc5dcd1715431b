public import ImageProbe

/// Estimates the memory that operations on a picture need, in bytes, from the structure of its file.
///
/// The estimates are approximate upper bounds, of the process and its decoder together, measured with pictures of 40 megapixels. A rejected
/// file needs almost no memory. Each function reads the file once: call it on a thread that may compute.
public enum PictureMemory {
    /// The row buffers of libvips, and the output buffer of the encoder.
    private static let rowsBytes = 16 << 20
    /// Bytes per pixel of a decoder or a filter: three bands.
    private static let pixelBytes = 3
    /// Bytes per pixel of a WebP file: its decoder returns whole pictures with four bands, and libvips copies them.
    private static let webpPixelBytes = 8
    /// Bytes per pixel of a style: the peak of the most demanding one.
    private static let stylePixelBytes = 10

    /// The memory of ``ImagePipeline/normalise(_:maxSide:quality:limits:)``.
    public static func normalising(_ bytes: [UInt8], maxSide: Int, limits: ImageLimits = ImageLimits()) -> Int {
        guard let file = probe(bytes, limits) else { return rowsBytes }
        return decoding(file, into: file.pixels.fitted(into: maxSide))
    }

    /// The memory of ``ImagePipeline/thumbnail(of:width:height:maxBytes:limits:)`` at its default size.
    public static func thumbnail(of bytes: [UInt8], limits: ImageLimits = ImageLimits()) -> Int {
        guard let file = probe(bytes, limits) else { return rowsBytes }
        let size = file.pixels
        // A stripe is decoded in full before its middle is cut out.
        let isStripe = size.longSide > 8 * min(size.width, size.height)
        return decoding(file, into: isStripe ? size : size.fitted(into: 600))
    }

    /// The memory of ``ImagePipeline/stylise(_:style:width:height:quality:limits:isCancelled:)`` for a picture of this module.
    public static func stylising(_ picture: EncodedPicture, width: Int?, height: Int?, quality: PictureQuality) -> Int {
        let size = PixelSize(width: picture.width, height: picture.height)
        let (shape, covering) = shape(of: size, width, height, quality)
        return rowsBytes + shape * stylePixelBytes + covering * pixelBytes
    }

    /// The memory of ``ImagePipeline/finish(_:width:height:quality:format:limits:)`` for a JPEG.
    public static func finishing(
        _ bytes: [UInt8], width: Int?, height: Int?, quality: PictureQuality, limits: ImageLimits = ImageLimits()
    ) -> Int {
        guard let file = probe(bytes, limits) else { return rowsBytes }
        let (shape, covering) = shape(of: file.pixels, width, height, quality)
        let perPixel = file.format == .webp ? webpPixelBytes : pixelBytes
        return file.wholeBytes + rowsBytes + max(shape, covering) * perPixel + shape * pixelBytes
    }

    private static func decoding(_ file: ImageInfo, into size: PixelSize) -> Int {
        // The decoder and the worker have the pixels.
        file.wholeBytes + rowsBytes + size.width * size.height * ((file.format == .webp ? webpPixelBytes : pixelBytes) + pixelBytes)
    }

    /// The pixels of the result, and of the picture that it is cropped from; 0 when it is not cropped.
    private static func shape(
        of size: PixelSize, _ width: Int?, _ height: Int?, _ quality: PictureQuality
    ) -> (shape: Int, covering: Int) {
        switch try? OutputFrame(of: size, width: width, height: height, maxSide: quality.maxSide) {
        case .whole(let whole): return (whole.width * whole.height, 0)
        case .cut(let shape):
            let scale = max(Double(shape.width) / Double(size.width), Double(shape.height) / Double(size.height))
            let covering = Double(size.width) * scale * Double(size.height) * scale
            let most = max(PictureFile.maxCoveringPixels, shape.width * shape.height)
            return (shape.width * shape.height, Int(min(covering, Double(most))))
        case nil: return (0, 0)
        }
    }

    private static func probe(_ bytes: [UInt8], _ limits: ImageLimits) -> ImageInfo? {
        bytes.withUnsafeBytes { bytes in
            var probe = ImageProbe(limits: limits)
            guard (try? probe.feed(bytes.bytes)) != nil else { return nil }
            return try? probe.finish()
        }
    }
}

extension ImageInfo {
    fileprivate var pixels: PixelSize { PixelSize(width: width, height: height) }
}
