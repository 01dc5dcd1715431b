internal import CRaster
internal import CVips
internal import Foundation

/// The numbers of one band in memory: bytes or floats.
///
/// They are written once, by the program that makes them, and only read from then on.
final class Plane {
    let layout: hg_plane
    /// The owner of the memory; nil when this plane owns it.
    private let owner: AnyObject?

    var size: PixelSize { PixelSize(width: Int(layout.width), height: Int(layout.height)) }
    var isBytes: Bool { layout.is_bytes != 0 }

    /// Allocates a plane, which is to be written.
    init(_ size: PixelSize, isBytes: Bool) {
        let bytes = size.width * size.height * (isBytes ? 1 : MemoryLayout<Float>.stride)
        layout = hg_plane(
            values: .allocate(byteCount: bytes, alignment: 64), width: Int32(size.width), height: Int32(size.height), pixel: 1,
            row: size.width, is_bytes: isBytes ? 1 : 0)
        owner = nil
    }

    private init(_ layout: hg_plane, of owner: AnyObject) {
        self.layout = layout
        self.owner = owner
    }

    /// A band of a picture that is in memory, and has bytes or floats.
    init(_ band: Int, of picture: VipsPicture) throws(ImagingError) {
        let isBytes = vips_image_get_format(picture.image) == VIPS_FORMAT_UCHAR
        guard isBytes || vips_image_get_format(picture.image) == VIPS_FORMAT_FLOAT, let data = vips_image_get_data(picture.image)
        else { throw VipsLibrary.failure("plane") }
        layout = hg_plane(
            values: UnsafeMutableRawPointer(mutating: data) + band * (isBytes ? 1 : MemoryLayout<Float>.stride),
            width: Int32(picture.width), height: Int32(picture.height), pixel: picture.bands, row: picture.width * picture.bands,
            is_bytes: isBytes ? 1 : 0)
        owner = picture
    }

    deinit { if owner == nil { layout.values.deallocate() } }

    /// A part of the plane, which shares its memory.
    func cropped(to size: PixelSize, left: Int, top: Int) -> Plane {
        var part = layout
        let values = top * part.row + left * part.pixel
        part.values += values * (isBytes ? 1 : MemoryLayout<Float>.stride)
        (part.width, part.height) = (Int32(size.width), Int32(size.height))
        return Plane(part, of: self)
    }

    /// A Gaussian blur of the plane, in numbers of the same kind.
    func blurred(_ sigma: Double) throws(ImagingError) -> Plane {
        // The weights of libvips: whole numbers to 20, from the first that is at least a fifth of the greatest.
        let radius = Int((2 * sigma * sigma * 1.609).squareRoot())
        let shares = (-radius...radius).map { (exp(-Double($0 * $0) / (2 * sigma * sigma)) * 20).rounded() }
        let sum = shares.reduce(0, +)
        let weights = shares.map { Float($0 / sum) }
        let blurred = Plane(size, isBytes: isBytes)
        guard hg_raster_blur(layout, blurred.layout, weights, Int32(weights.count)) != 0 else { throw Self.noMemory }
        return blurred
    }

    /// The means of squares of some pixels.
    func shrunk(by factor: Int) throws(ImagingError) -> Plane {
        let small = Plane(shrunkSize(by: factor), isBytes: false)
        guard hg_raster_shrink(layout, small.layout, Int32(factor)) != 0 else { throw Self.noMemory }
        return small
    }

    func shrunkSize(by factor: Int) -> PixelSize {
        PixelSize(width: (size.width + factor - 1) / factor, height: (size.height + factor - 1) / factor)
    }

    private static var noMemory: ImagingError { ImagingError(.unavailable, "no memory for a row of pixels") }
}
