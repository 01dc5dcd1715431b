internal import ImageProbe

/// Encodes pictures without any metadata: no EXIF, XMP, IPTC, comment or colour profile.
enum PictureEncoder {
    /// Maximum number of pixels for which a JPEG's Huffman tables are optimised: the encoder then keeps all coefficients, six
    /// bytes a pixel, and the file becomes some 4 % smaller.
    private static let maxOptimisedPixels = 1_000_000

    /// Computes all pixels of a picture and encodes it.
    ///
    /// - Parameter quality: The quality of JPEG and WebP, 1 to 100.
    static func encode(_ picture: VipsPicture, as format: ImageFormat, quality: Int) throws(ImagingError) -> EncodedPicture {
        let picture = try picture.withoutMetadata()
        let isOptimised = picture.width * picture.height <= maxOptimisedPixels
        let bytes =
            switch format {
            case .jpeg:
                try VipsCall(
                    "jpegsave_buffer", input: picture,
                    ["Q": .whole(quality), "optimize_coding": .flag(isOptimised), "strip": .flag(true)]
                ).bytes()
            case .png:
                try VipsCall("pngsave_buffer", input: picture, ["compression": .whole(6), "strip": .flag(true)]).bytes()
            case .webp:
                try WebPContainer.withoutMetadata(try VipsCall("webpsave_buffer", input: picture, ["Q": .whole(quality)]).bytes())
            case .heic:
                throw ImagingError(.unsupported, "HEIC can be read but not written")
            }
        return EncodedPicture(bytes: bytes, format: format, width: picture.width, height: picture.height)
    }
}
