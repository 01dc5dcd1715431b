internal import CJPEG

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The pixels of a JPEG file, decoded by libjpeg-turbo itself: red, green and blue, small and upright.
///
/// libvips needs two to three times the processor time for the same, most of it for the coordination of its threads (ADR 29).
final class UprightJPEG {
    /// Pixels across and down.
    let size: PixelSize
    private let pixels: UnsafeMutablePointer<UInt8>

    /// Decodes a file whose structure and size were checked; nil when its colours are inks.
    ///
    /// - Throws: ``ImagingError`` with `corrupt`.
    init?(_ bytes: UnsafeRawBufferPointer, stored: PixelSize, orientation: Int, maxSide: Int) throws(ImagingError) {
        let order = hg_jpeg_order(
            max_side: Int32(maxSide), orientation: Int32(orientation), width: UInt32(stored.width), height: UInt32(stored.height))
        var picture = hg_jpeg_picture()
        var message = [CChar](repeating: 0, count: Int(HG_JPEG_MESSAGE))
        switch hg_jpeg_decode(bytes.baseAddress, bytes.count, order, &picture, &message) {
        case HG_JPEG_OK:
            size = PixelSize(width: Int(picture.width), height: Int(picture.height))
            pixels = picture.pixels
        case HG_JPEG_OTHER_COLOURS: return nil
        case HG_JPEG_NO_MEMORY: throw ImagingError(.corrupt, "no memory to decode a JPEG")
        default:
            let text = message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw ImagingError(.corrupt, String(decoding: text, as: UTF8.self))
        }
    }

    deinit { free(pixels) }

    /// Calls a function with the rows, which have no gaps; they are valid only during the call.
    func withRows<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: pixels, count: size.width * size.height * 3))
    }
}

/// The pixels of a rendered picture.
enum RenderedPixels {
    case onDemand(VipsPicture)
    case decoded(UprightJPEG)

    var size: PixelSize {
        switch self {
        case .onDemand(let picture): PixelSize(width: picture.width, height: picture.height)
        case .decoded(let picture): picture.size
        }
    }

    /// 3, or 4 with transparency.
    var bands: Int {
        switch self {
        case .onDemand(let picture): picture.bands
        case .decoded: 3
        }
    }

    /// Passes the pixels on, in groups of whole rows from top to bottom.
    func passRows(_ body: (UnsafeRawBufferPointer) -> Void) throws(ImagingError) {
        switch self {
        case .onDemand(let picture): try picture.computeRows(body)
        case .decoded(let picture): picture.withRows(body)
        }
    }
}
