internal import CVips

/// Owns one reference to an image of libvips.
///
/// Used by one thread at a time; the compiler sees to that, as it cannot be copied.
struct VipsPicture: ~Copyable {
    let image: UnsafeMutablePointer<VipsImage>

    /// Takes over a reference; nil stands for the failure of the operation that should have made it.
    init(_ image: UnsafeMutablePointer<VipsImage>?, _ operation: String) throws(ImagingError) {
        guard let image else { throw Self.failure(operation) }
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

    /// Applies an operation.
    func applying(
        _ operation: String, _ body: (UnsafeMutablePointer<VipsImage>) -> UnsafeMutablePointer<VipsImage>?
    ) throws(ImagingError) -> VipsPicture {
        try VipsPicture(body(image), operation)
    }

    /// Computes the pixels.
    func bytes() throws(ImagingError) -> [UInt8] {
        var count = 0
        guard let memory = vips_image_write_to_memory(image, &count) else { throw Self.failure("decode") }
        defer { g_free(memory) }
        return Array(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// What libvips has to say of the last failure, which is of structure and never of content.
    private static func failure(_ operation: String) -> ImagingError {
        defer { vips_error_clear() }
        let text = vips_error_buffer().map { String(cString: $0) } ?? ""
        let line = text.split(separator: "\n").first.map(String.init) ?? "no reason given"
        return ImagingError(.corrupt, "\(operation): \(line.prefix(160))")
    }
}
