internal import ImageProbe

/// Writes pictures as files without any metadata: no EXIF, XMP, IPTC, comment or colour profile.
enum PictureEncoder {
    /// Encodes a picture; all its pixels are computed now.
    ///
    /// - Parameter quality: Of JPEG and WebP, 1 to 100.
    static func encode(_ picture: VipsPicture, as format: ImageFormat, quality: Int) throws(ImagingError) -> EncodedPicture {
        let picture = try picture.withoutMetadata()
        let bytes =
            switch format {
            case .jpeg:
                try VipsCall(
                    "jpegsave_buffer", input: picture,
                    ["Q": .whole(quality), "optimize_coding": .flag(true), "strip": .flag(true)]
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
