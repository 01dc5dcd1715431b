internal import ImageProbe

/// Writes pictures as files without any metadata: no EXIF, XMP, IPTC, comment or colour profile.
enum PictureEncoder {
    /// Pixels up to which a JPEG's code tables are made to measure. The encoder keeps all coefficients until it knows them, six
    /// bytes a pixel, and the file becomes some four hundredths smaller.
    private static let measuredPixelsMax = 1_000_000

    /// Encodes a picture; all its pixels are computed now.
    ///
    /// - Parameter quality: Of JPEG and WebP, 1 to 100.
    static func encode(_ picture: VipsPicture, as format: ImageFormat, quality: Int) throws(ImagingError) -> EncodedPicture {
        let picture = try picture.withoutMetadata()
        let isMeasured = picture.width * picture.height <= measuredPixelsMax
        let bytes =
            switch format {
            case .jpeg:
                try VipsCall(
                    "jpegsave_buffer", input: picture,
                    ["Q": .whole(quality), "optimize_coding": .flag(isMeasured), "strip": .flag(true)]
                ).bytes()
            case .png:
                try VipsCall("pngsave_buffer", input: picture, ["compression": .whole(6), "strip": .flag(true)]).bytes()
            case .webp:
                try WebPContainer.withoutMetadata(try VipsCall("webpsave_buffer", input: picture, ["Q": .whole(quality)]).bytes())
            case .heic:
                throw ImagingError(.unsupported, "HEIC is read and not written")
            }
        return EncodedPicture(bytes: bytes, format: format, width: picture.width, height: picture.height)
    }
}
