/// What becomes of transparency.
enum AlphaPolicy {
    /// The picture is laid on white.
    case white
    /// It stays.
    case kept
}

extension PictureFile {
    /// The picture, upright and in sRGB with eight bits a band, of exactly the size asked for (of the upright picture).
    ///
    /// JPEG, PNG and WebP files are decoded row by row as the pixels are asked for; only what has to be turned is kept
    /// in memory, at its final size.
    func rendered(size: PixelSize, alpha: AlphaPolicy) throws(ImagingError) -> VipsPicture {
        let target = orientation >= 5 ? size.turned : size
        // Half of what a decoder could shrink is left to the better filter of `resize`.
        let shrink = min(Double(stored.width) / Double(target.width), Double(stored.height) / Double(target.height))
        var picture = try self.picture(shrunkBy: shrink, leaving: 2)
        if alpha == .white { picture = try picture.onWhite() }
        picture = try picture.resized(to: target).inSRGB()
        if orientation > 1 { picture = try picture.inMemory().applying("autorot") }
        return picture
    }

    /// A part of the picture around its middle that is not much longer than the shape asked for, scaled to cover that
    /// shape and cut to it around what draws the eye.
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

    /// How many times the longer side of a shape a picture may be long once it covers the shape. Beyond, it is a stripe
    /// that would become huge, and only its middle is looked at.
    private static let maxExcess = 8

    /// How many pixels a picture may have once it covers a shape: 72 MB. A long one that is asked for as a big square would
    /// otherwise take several times what the square does.
    static let maxCoveringPixels = 24_000_000

    private func middle(
        of whole: PixelSize, covering shape: PixelSize, longest: Int, alpha: AlphaPolicy
    ) throws(ImagingError) -> VipsPicture {
        // In memory it is at most as big as the limits say, and seldom: a long picture has few pixels across.
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
