internal import CVips

/// An image of libvips: usually a pipeline of operations whose pixels are computed on demand.
///
/// Not `Sendable`: a picture and all pictures derived from it stay on one thread.
final class VipsPicture {
    let image: UnsafeMutablePointer<VipsImage>

    /// Takes over a reference; nil stands for the failure of the operation that should have made it.
    init(_ image: UnsafeMutablePointer<VipsImage>?, _ operation: String) throws(ImagingError) {
        guard let image else { throw VipsLibrary.failure(operation) }
        self.image = image
    }

    deinit { g_object_unref(image) }

    var width: Int { Int(vips_image_get_width(image)) }
    var height: Int { Int(vips_image_get_height(image)) }
    var bands: Int { Int(vips_image_get_bands(image)) }
    var hasAlpha: Bool { vips_image_hasalpha(image) != 0 }
    /// Pictures in the file: more than one in an animation.
    var pages: Int { Int(vips_image_get_n_pages(image)) }
    /// The EXIF orientation, 1 to 8.
    var orientation: Int { Int(vips_image_get_orientation(image)) }
    var hasProfile: Bool { vips_image_get_typeof(image, "icc-profile-data") != 0 }
    var isCMYK: Bool { vips_image_get_interpretation(image) == VIPS_INTERPRETATION_CMYK }
    /// The value that stands for white in a band.
    var white: Double { vips_image_get_format(image) == VIPS_FORMAT_USHORT ? 65_535 : 255 }

    /// Runs an operation whose input is called `in`.
    func applying(
        _ operation: String, _ arguments: KeyValuePairs<String, VipsCall.Argument> = [:]
    ) throws(ImagingError) -> VipsPicture {
        try VipsCall(operation, input: self, arguments).picture()
    }

    /// Computes the pixels and keeps them, so that they can be read in any order and more than once.
    func inMemory() throws(ImagingError) -> VipsPicture {
        try VipsPicture(vips_image_copy_memory(image), "decode")
    }

    /// The picture without metadata. Not every saver honours its `strip` option.
    func withoutMetadata() throws(ImagingError) -> VipsPicture {
        let copy = try applying("copy")
        guard let fields = vips_image_get_fields(copy.image) else { return copy }
        defer { g_strfreev(fields) }
        var next = fields
        while let field = next.pointee {
            // Fields that libvips computes with (sizes, resolution, history) are no metadata of the file; their removal has no effect.
            vips_image_remove(copy.image, field)
            next += 1
        }
        return copy
    }

    /// Computes the pixels.
    func bytes() throws(ImagingError) -> [UInt8] {
        var count = 0
        guard let memory = vips_image_write_to_memory(image, &count) else { throw VipsLibrary.failure("decode") }
        defer { g_free(memory) }
        return Array(UnsafeRawBufferPointer(start: memory, count: count))
    }
}

extension VipsPicture {
    /// Makes a picture of pixels in sRGB, which must outlive it.
    ///
    /// - Precondition: `pixels.count` is the product of the size and the bands, 3 or 4.
    convenience init(pixels: UnsafeRawBufferPointer, size: PixelSize, bands: Int) throws(ImagingError) {
        precondition(pixels.count == size.width * size.height * bands, "pixels do not fit the size")
        try VipsLibrary.start()
        try self.init(
            vips_image_new_from_memory(
                pixels.baseAddress, pixels.count, Int32(size.width), Int32(size.height), Int32(bands), VIPS_FORMAT_UCHAR), "pixels")
        // By a copy with another interpretation the picture would no longer count as one in memory.
        image.pointee.Type = VIPS_INTERPRETATION_sRGB
    }

    /// Computes the pixels from top to bottom without keeping them, and passes them on in groups of whole rows.
    func computeRows(_ body: (UnsafeRawBufferPointer) -> Void) throws(ImagingError) {
        let status = withoutActuallyEscaping(body) { body in
            let sink = RowSink(body)
            return withExtendedLifetime(sink) {
                vips_sink_disc(
                    image,
                    { region, area, sink in
                        guard let region, let area, let sink else { return -1 }
                        Unmanaged<RowSink>.fromOpaque(sink).takeUnretainedValue().take(region.pointee, area.pointee)
                        return 0
                    }, Unmanaged.passUnretained(sink).toOpaque())
            }
        }
        guard status == 0 else { throw VipsLibrary.failure("decode") }
    }
}

/// Passes the rows of a region of libvips on, which follow each other in memory, or have gaps between them.
private final class RowSink {
    private let body: (UnsafeRawBufferPointer) -> Void

    init(_ body: @escaping (UnsafeRawBufferPointer) -> Void) { self.body = body }

    func take(_ region: VipsRegion, _ area: VipsRect) {
        let rowBytes = Int(area.width) * Int(region.im.pointee.Bands)
        guard let data = region.data else { return }
        var first = UnsafeRawPointer(data) + (Int(area.top) - Int(region.valid.top)) * Int(region.bpl)
        first += (Int(area.left) - Int(region.valid.left)) * Int(region.im.pointee.Bands)
        if Int(region.bpl) == rowBytes { return body(UnsafeRawBufferPointer(start: first, count: rowBytes * Int(area.height))) }
        for row in 0..<Int(area.height) {
            body(UnsafeRawBufferPointer(start: first + row * Int(region.bpl), count: rowBytes))
        }
    }
}
