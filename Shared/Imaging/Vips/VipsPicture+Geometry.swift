extension VipsPicture {
    /// The picture at exactly that size.
    func resized(to size: PixelSize) throws(ImagingError) -> VipsPicture {
        guard size != PixelSize(width: width, height: height) else { return self }
        let scales: KeyValuePairs<String, VipsCall.Argument> = [
            "scale": .number(Double(size.width) / Double(width)), "vscale": .number(Double(size.height) / Double(height)),
        ]
        // Colour under transparent pixels must not leak into their neighbours.
        guard hasAlpha else { return try applying("resize", scales) }
        let resized = try applying("premultiply").applying("resize", scales).applying("unpremultiply")
        return try resized.applying("cast", ["format": .choice(white > 255 ? "ushort" : "uchar")])
    }

    /// A part of the picture.
    func extracted(_ size: PixelSize, left: Int, top: Int) throws(ImagingError) -> VipsPicture {
        try VipsCall(
            "extract_area",
            [
                "input": .picture(self), "left": .whole(left), "top": .whole(top), "width": .whole(size.width),
                "height": .whole(size.height),
            ]
        ).picture()
    }

    /// The most salient part of a size.
    ///
    /// - Precondition: the picture is in memory, and at least that big.
    func cut(to size: PixelSize) throws(ImagingError) -> VipsPicture {
        let attention = try Attention(of: self)
        return try extracted(
            size, left: attention.start(of: size.width, in: width, .across), top: attention.start(of: size.height, in: height, .down))
    }
}

extension VipsPicture {
    /// The picture in sRGB with eight bits a band: three bands, or four with transparency.
    ///
    /// A colour profile in the file is honoured, unless it is damaged or does not match the picture. CMYK without a profile is
    /// interpreted with libvips' default CMYK profile.
    func inSRGB() throws(ImagingError) -> VipsPicture {
        var picture = self
        if hasProfile || isCMYK {
            let converted = try? applying(
                "icc_transform",
                [
                    "output_profile": .choice("srgb"), "embedded": .flag(true), "input_profile": .choice(isCMYK ? "cmyk" : "srgb"),
                    "intent": .choice("perceptual"), "black_point_compensation": .flag(true), "depth": .whole(8),
                ])
            picture = converted ?? self
        }
        let coloured = try picture.applying("colourspace", ["space": .choice("srgb")])
        return try coloured.applying("cast", ["format": .choice("uchar")]).threeBands()
    }

    /// The picture flattened onto white.
    func onWhite() throws(ImagingError) -> VipsPicture {
        hasAlpha ? try applying("flatten", ["background": .numbers([white])]) : self
    }

    /// The first three bands, or four when there is transparency.
    func threeBands() throws(ImagingError) -> VipsPicture {
        let wanted = hasAlpha ? 4 : 3
        guard bands != wanted else { return self }
        guard bands > wanted else { throw ImagingError(.corrupt, "\(bands) colour bands") }
        return try applying("extract_band", ["band": .whole(0), "n": .whole(wanted)])
    }
}
