/// The treatment of transparency.
enum AlphaPolicy {
    /// The picture is flattened onto white.
    case white
    /// Transparency is kept.
    case kept
}

extension PictureFile {
    /// The picture, upright and in sRGB with eight bits a band, in exactly the given size of the upright picture.
    ///
    /// JPEG, PNG and WebP files are decoded row by row as the pixels are read; only a picture that must be rotated is
    /// kept in memory, at its final size.
    func rendered(size: PixelSize, alpha: AlphaPolicy) throws(ImagingError) -> VipsPicture {
        let target = orientation >= 5 ? size.turned : size
        // A factor of two is left to the better filter of `resize`.
        let shrink = min(Double(stored.width) / Double(target.width), Double(stored.height) / Double(target.height))
        var picture = try self.picture(shrunkBy: shrink, leaving: 2)
        if alpha == .white { picture = try picture.onWhite() }
        picture = try picture.resized(to: target).inSRGB()
        if orientation > 1 { picture = try picture.inMemory().applying("autorot") }
        return picture
    }

    /// The picture scaled to cover a shape and cropped to its most salient part; of a very long picture only the middle is
    /// considered.
    func covering(_ shape: PixelSize, alpha: AlphaPolicy = .white) throws(ImagingError) -> VipsPicture {
        let scale = max(Double(shape.width) / Double(upright.width), Double(shape.height) / Double(upright.height))
        let whole = PixelSize(
            width: max(shape.width, Int((Double(upright.width) * scale).rounded())),
            height: max(shape.height, Int((Double(upright.height) * scale).rounded())))
        let longest = max(
            shape.longSide, min(Self.maxExcess * shape.longSide, Self.maxCoveringPixels / min(whole.width, whole.height)))
        guard whole.longSide <= longest else { return try middle(of: whole, covering: shape, longest: longest, alpha: alpha) }
        let picture = try rendered(size: whole, alpha: alpha)
        guard whole != shape else { return picture }
        return try picture.inMemory().cut(to: shape)
    }

    /// Maximum length of a picture that covers a shape, as a multiple of the shape's longer side. Only the middle of a longer picture is
    /// used, because the whole would become huge.
    private static let maxExcess = 8

    /// Maximum number of pixels of a picture that covers a shape: 72 MB. A long picture that is requested as a large square
    /// would otherwise take several times the memory of the square.
    static let maxCoveringPixels = 24_000_000

    private func middle(
        of whole: PixelSize, covering shape: PixelSize, longest: Int, alpha: AlphaPolicy
    ) throws(ImagingError) -> VipsPicture {
        // The copy in memory is bounded by the limits and usually far smaller, because a long picture is narrow.
        var picture = try self.picture(shrunkBy: Double(upright.longSide) / Double(whole.longSide), leaving: 2)
        if alpha == .white { picture = try picture.onWhite() }
        picture = try picture.inSRGB().inMemory().applying("autorot")
        let share = Double(longest) / Double(whole.longSide)
        let part = PixelSize(
            width: whole.width > longest ? max(1, Int(Double(picture.width) * share)) : picture.width,
            height: whole.height > longest ? max(1, Int(Double(picture.height) * share)) : picture.height)
        picture = try picture.extracted(part, left: (picture.width - part.width) / 2, top: (picture.height - part.height) / 2)
        let size = PixelSize(width: min(whole.width, longest), height: min(whole.height, longest))
        return try picture.resized(to: size).inMemory().cut(to: shape)
    }
}

extension PictureFile {
    /// The picture without the correction of its colour profile, for the face engine: three bands, on black.
    func plain(maxSide: Int) throws(ImagingError) -> RenderedPixels {
        if let decoded = try uprightJPEG(maxSide: maxSide) { return .decoded(decoded) }
        var picture = try self.picture(shrunkBy: Double(stored.longSide) / Double(maxSide))
        let loaded = max(picture.width, picture.height)
        if loaded > maxSide {
            picture = try picture.applying("resize", ["scale": .number(Double(maxSide) / Double(loaded)), "kernel": .choice("linear")])
        }
        // Rows are decoded top down, so a picture that must be rotated is first copied to memory; it is small at this point.
        if orientation > 1 { picture = try picture.inMemory().applying("autorot") }
        // Grey, palette, CMYK, 16 bits and transparency become three bands of eight bits.
        let coloured = try picture.applying("colourspace", ["space": .choice("srgb")])
        let opaque = coloured.hasAlpha ? try coloured.applying("flatten") : coloured
        return .onDemand(try opaque.applying("cast", ["format": .choice("uchar")]).threeBands())
    }
}
