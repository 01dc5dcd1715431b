internal import CVips
internal import FoundationEssentials
internal import ImageProbe

/// Small pictures that a decoder decodes before it enters the sandbox: libraries load plugins, and start threads, on first use.
enum WarmUpPictures {
    /// Decodes a picture of each format and of each kind of colour.
    ///
    /// - Throws: ``ImagingError`` when libvips on this machine cannot decode one of them.
    static func decode() throws(ImagingError) {
        let transparent = try picture(bands: 4)
        let inks = try picture(bands: 3).applying("colourspace", ["space": .choice("cmyk")])
        let files: [(ImageFormat, [UInt8])] = [
            (.jpeg, try PictureEncoder.encode(try picture(bands: 3), as: .jpeg, quality: 90).bytes),
            (.jpeg, try VipsCall("jpegsave_buffer", input: inks, [:]).bytes()),
            (.png, try PictureEncoder.encode(transparent, as: .png, quality: 90).bytes),
            (.webp, try PictureEncoder.encode(transparent, as: .webp, quality: 90).bytes),
            (.heic, [UInt8](Data(base64Encoded: heic) ?? Data())),
        ]
        let renderings: [DecodeRequest.Rendering] = [
            .plain(maxSide: 32, minSide: 1), .framed(width: 32, height: 16, maxSide: 32, alpha: .white),
            .framed(width: nil, height: nil, maxSide: 32, alpha: .kept),
        ]
        for (format, file) in files {
            for rendering in renderings {
                let request = DecodeRequest(
                    format: format, limits: ImageLimits(), rendering: rendering, byteCount: file.count, isOpenEnded: false)
                try withBytes(of: file) { file throws(ImagingError) in try request.rendered(file).pixels.passRows { _ in } }
            }
        }
    }

    private static func picture(bands: Int) throws(ImagingError) -> VipsPicture {
        let (side, colour) = (64, [Double](repeating: 90, count: bands))
        let grey = try VipsPicture(vips_image_new_matrix(Int32(side), Int32(side)), "warm-up")
        let flat = try VipsPicture(vips_image_new_from_image(grey.image, colour, Int32(bands)), "warm-up")
        return try flat.applying("cast", ["format": .choice("uchar")]).applying("copy", ["interpretation": .choice("srgb")])
    }

    /// 64 by 48 pixels in two colours, made for this purpose.
    private static let heic = """
        AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAeRtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRt\
        AAAAAAACAAAAEGlkYXQAAAAAAEAAMAAAAExpbG9jAQAAAERAAAMAAQAAAAAAAAIIAAEAAAAAAAAAbQACAAEAAAAAAAAAAQAAAAAAAAAIAAMA\
        AAAAAAACdQABAAAAAAAAAL4AAABNaWluZgAAAAAAAwAAABVpbmZlAgAAAQABAABodmMxAAAAABVpbmZlAgAAAAACAABncmlkAAAAABVpbmZl\
        AgAAAQADAABFeGlmAAAAANhpcHJwAAAAtmlwY28AAAB2aHZjQwEDcAAAAAAAAAAAAB7wAPz9+PgAAA8DIAABABhAAQwB//8DcAAAAwCQAAAD\
        AAADAB66AkAhAAEAKkIBAQNwAAADAJAAAAMAAAMAHqAggQWW6uSmubgQEDAgAAADACAAAAMAISIAAQAGRAHBc8CJAAAAFGlzcGUAAAAAAAAA\
        QAAAAEAAAAAUaXNwZQAAAAAAAABAAAAAMAAAABBwaXhpAAAAAAMICAgAAAAaaXBtYQAAAAAAAAACAAECgQIAAgIDhAAAAChpcmVmAAAAAAAA\
        AA5kaW1nAAIAAQABAAAADmNkc2MAAwABAAIAAAEzbWRhdAAAAGkoAa8TgLcVMWZe/4v/aFhXJig9KsE3nqpBnhucLIpiEH32TO5U4+MVDVri\
        f/uLRrj3vzhG8pLLO/qISYfFE/q/fe6pnY8R3xGGa48B5+nit8CJIbglErZHN0t9h3k6VFMyutdHWeq7x3gAAAAGRXhpZgAASUkqAAgAAAAG\
        ABIBAwABAAAAAQAAABoBBQABAAAAVgAAABsBBQABAAAAXgAAACgBAwABAAAAAgAAABMCAwABAAAAAQAAAGmHBAABAAAAZgAAAAAAAABIAAAA\
        AQAAAEgAAAABAAAABgAAkAcABAAAADAyMTABkQcABAAAAAECAwAAoAcABAAAADAxMDABoAMAAQAAAP//AAACoAQAAQAAAEAAAAADoAQAAQAA\
        ADAAAAAAAAAA
        """
}
