internal import CVips
internal import ImageProbe

/// An untrusted file that was checked to contain one picture within the limits; no pixel of it is decoded yet.
struct PictureFile {
    let format: ImageFormat
    /// Pixels across and down as stored, before the EXIF orientation is applied.
    let stored: PixelSize
    /// The EXIF orientation, 1 to 8.
    let orientation: Int

    private let bytes: UnsafeRawBufferPointer
    private let isOpenEnded: Bool

    /// Pixels across and down once upright.
    var upright: PixelSize { orientation >= 5 ? stored.turned : stored }

    /// Checks the size that libvips reads from the header of a file whose structure ``ImageProbe`` has checked. The bytes must outlive
    /// all pictures derived from it.
    ///
    /// The probe detects by structure what libvips would detect only while decoding, or not at all: a second frame, a size beyond the
    /// limits, a truncated file.
    ///
    /// - Parameter isOpenEnded: Whether the file had no end marker: then it is damaged if its data end early.
    init(
        _ bytes: UnsafeRawBufferPointer, format: ImageFormat, limits: ImageLimits, isOpenEnded: Bool = false
    ) throws(ImagingError) {
        (self.bytes, self.format, self.isOpenEnded) = (bytes, format, isOpenEnded)
        let header = try Self.load(bytes, format, shrink: 1, isOpenEnded: isOpenEnded)
        guard header.pages == 1 || format == .heic else { throw ImagingError(.tooLarge, "more than one frame") }
        stored = PixelSize(width: header.width, height: header.height)
        orientation = header.orientation
        guard stored.isWithin(side: limits.side, pixels: limits.pixels) else {
            throw ImagingError(.tooLarge, "\(stored) pixels are more than the limit")
        }
    }

    /// The picture as stored, scaled down during decoding by at most the given factor: JPEG and WebP decoders do this at a
    /// fraction of the cost of decoding every pixel.
    ///
    /// - Parameter rest: The part of the factor that a JPEG decoder leaves to a better filter. A WebP decoder scales by the
    ///   whole factor, because its filter is good and it holds its whole output in memory.
    func picture(shrunkBy factor: Double, leaving rest: Double = 1) throws(ImagingError) -> VipsPicture {
        var shrink = 1.0
        switch format {
        case .jpeg: while shrink < 8, shrink * 2 <= factor / rest { shrink *= 2 }
        case .webp: shrink = max(1, factor)
        case .png, .heic: break
        }
        return try Self.load(bytes, format, shrink: shrink, isOpenEnded: isOpenEnded)
    }

    /// The picture as the face engine reads it, when the file is a whole JPEG whose colours are not inks.
    func uprightJPEG(maxSide: Int) throws(ImagingError) -> UprightJPEG? {
        guard format == .jpeg, !isOpenEnded else { return nil }
        return try UprightJPEG(bytes, stored: stored, orientation: orientation, maxSide: maxSide)
    }

    /// Opens a file: only the header is read; pixels are decoded on demand, from top to bottom.
    private static func load(
        _ bytes: UnsafeRawBufferPointer, _ format: ImageFormat, shrink: Double, isOpenEnded: Bool
    ) throws(ImagingError) -> VipsPicture {
        func call(_ loader: String, _ scale: [(String, VipsCall.Argument)] = []) throws(ImagingError) -> VipsPicture {
            let arguments: [(String, VipsCall.Argument)] = [
                ("buffer", .bytes(bytes)), ("access", .choice("sequential")),
                // That the data of a scan end early is only a warning, when a marker follows.
                ("fail_on", .choice(isOpenEnded ? "warning" : "truncated")),
            ]
            return try VipsCall(loader, arguments + scale).picture()
        }
        switch format {
        case .jpeg: return try call("jpegload_buffer", [("shrink", .whole(Int(shrink)))])
        case .png: return try call("pngload_buffer")
        case .webp: return try call("webpload_buffer", [("scale", .number(1 / shrink))])
        case .heic: return try call("heifload_buffer")
        }
    }
}

/// Pixels across and down.
struct PixelSize: Equatable, CustomStringConvertible {
    var width: Int
    var height: Int

    var longSide: Int { max(width, height) }
    var turned: PixelSize { PixelSize(width: height, height: width) }
    var description: String { "\(width)x\(height)" }

    /// Returns whether the size is not empty, and within limits.
    func isWithin(side: Int, pixels: Int) -> Bool {
        guard width > 0, height > 0, longSide <= side else { return false }
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        return !overflow && area <= pixels
    }
}
