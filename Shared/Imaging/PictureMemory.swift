public import ImageProbe

/// How much memory work on a picture takes, in bytes, told from the structure of its file: for whoever has to share memory out.
///
/// Measured with pictures of 40 megapixels; an upper bound of what work adds to a process, at least nearly. A file that is not
/// taken counts as one that costs next to nothing, which is what finding that out costs. Reads the file once: call it on a
/// thread that may compute.
public enum PictureMemory {
    /// What libvips holds of rows that go through, and the encoder of what it writes.
    private static let rowsBytes = 16 << 20
    /// Of a pixel that comes out of a decoder or a filter: its three bands.
    private static let pixelBytes = 3
    /// The same of a WebP file, whose decoder gives out whole pictures, with transparency, and libvips copies them.
    private static let webpPixelBytes = 8
    /// Of a pixel that a style works on: what the hungriest one keeps at a time.
    private static let stylePixelBytes = 10

    /// What ``PictureWorkshop/normalise(_:maxSide:quality:limits:)`` takes.
    public static func normalising(_ bytes: [UInt8], maxSide: Int, limits: ImageLimits = ImageLimits()) -> Int {
        guard let file = probe(bytes, limits) else { return rowsBytes }
        return decoding(file, into: file.pixels.fitted(into: maxSide))
    }

    /// What ``PictureWorkshop/thumbnail(of:width:height:maxBytes:limits:)`` takes at its usual size.
    public static func thumbnail(of bytes: [UInt8], limits: ImageLimits = ImageLimits()) -> Int {
        guard let file = probe(bytes, limits) else { return rowsBytes }
        let size = file.pixels
        // The middle of a stripe is cut from all of it.
        let isStripe = size.longSide > 8 * min(size.width, size.height)
        return decoding(file, into: isStripe ? size : size.fitted(into: 600))
    }

    /// What ``PictureWorkshop/stylise(_:style:width:height:quality:limits:isCancelled:)`` takes of a picture of this module.
    public static func stylising(_ picture: EncodedPicture, width: Int?, height: Int?, quality: PictureQuality) -> Int {
        let size = PixelSize(width: picture.width, height: picture.height)
        let (shape, covering) = shape(of: size, width, height, quality)
        return rowsBytes + shape * stylePixelBytes + covering * pixelBytes
    }

    /// What ``PictureWorkshop/finish(_:width:height:quality:format:limits:)`` takes to write a JPEG.
    public static func finishing(
        _ bytes: [UInt8], width: Int?, height: Int?, quality: PictureQuality, limits: ImageLimits = ImageLimits()
    ) -> Int {
        guard let file = probe(bytes, limits) else { return rowsBytes }
        let (shape, covering) = shape(of: file.pixels, width, height, quality)
        let perPixel = file.format == .webp ? webpPixelBytes : pixelBytes
        return file.wholeBytes + rowsBytes + max(shape, covering) * perPixel
    }

    private static func decoding(_ file: ImageInfo, into size: PixelSize) -> Int {
        file.wholeBytes + rowsBytes + size.width * size.height * (file.format == .webp ? webpPixelBytes : pixelBytes)
    }

    /// Pixels of the result, and those of the picture that it is cut from; 0 when it is not cut.
    private static func shape(
        of size: PixelSize, _ width: Int?, _ height: Int?, _ quality: PictureQuality
    ) -> (shape: Int, covering: Int) {
        switch try? OutputFrame(of: size, width: width, height: height, quality: quality) {
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
