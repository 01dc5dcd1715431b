internal import CVips

extension VipsPicture {
    /// A Gaussian blur. A large blur is computed at a smaller size, which makes no visible difference.
    func blurred(_ sigma: Double) throws(ImagingError) -> VipsPicture {
        guard sigma >= 0.3 else { return self }
        let shrink = Int(sigma / Self.sigmaAtSize)
        guard shrink >= 2, min(width, height) > shrink * 4 else { return try applying("gaussblur", ["sigma": .number(sigma)]) }
        let small = try applying("shrink", ["hshrink": .number(Double(shrink)), "vshrink": .number(Double(shrink)), "ceil": .flag(true)])
        let blurred = try small.applying("gaussblur", ["sigma": .number(sigma / Double(shrink))]).inMemory()
        return try blurred.enlarged(to: PixelSize(width: width, height: height))
    }

    /// The largest sigma that is computed at full size, in pixels.
    private static let sigmaAtSize = 3.0

    /// The picture enlarged by linear interpolation, which does not exceed the range of its colours.
    func enlarged(to size: PixelSize) throws(ImagingError) -> VipsPicture {
        guard size != PixelSize(width: width, height: height) else { return self }
        return try applying(
            "resize",
            [
                "scale": .number(Double(size.width) / Double(width)), "vscale": .number(Double(size.height) / Double(height)),
                "kernel": .choice("linear"),
            ])
    }

    /// The picture at another size, without steps at its edges.
    func resizedSmoothly(to size: PixelSize) throws(ImagingError) -> VipsPicture {
        guard size != PixelSize(width: width, height: height) else { return self }
        return try inMemory().resized(to: size)
    }

    /// A weighted sum of each pixel's surroundings, given row by row.
    func convolved(_ rows: [[Double]]) throws(ImagingError) -> VipsPicture {
        try applying("conv", ["mask": .picture(try .matrix(rows)), "precision": .choice("float")])
    }

    /// Displaces each pixel: it is read from a place further right and down by the two bands of `offsets`, in pixels.
    ///
    /// - Precondition: the picture is in memory, and no offset is larger than `reach`; edges are repeated.
    func displaced(by offsets: VipsPicture, reach: Double) throws(ImagingError) -> VipsPicture {
        let margin = Int(reach.rounded(.up)) + 2
        let framed = try applying(
            "embed",
            [
                "x": .whole(margin), "y": .whole(margin), "width": .whole(width + 2 * margin), "height": .whole(height + 2 * margin),
                "extend": .choice("copy"),
            ])
        let places = try Self.places(PixelSize(width: width, height: height)) + offsets + Double(margin)
        return try framed.applying("mapim", ["index": .picture(places)])
    }

    /// Two bands with the coordinates of each pixel.
    static func places(_ size: PixelSize) throws(ImagingError) -> VipsPicture {
        try VipsCall("xyz", ["width": .whole(size.width), "height": .whole(size.height)]).picture()
    }

    /// Grain of one band around 0, deterministic for a seed: a seamless tile that is repeated.
    ///
    /// - Parameters:
    ///   - softness: The sigma by which the noise, of deviation 1, is blurred.
    ///   - reach: The radius of `shape`, in pixels.
    ///   - shape: A filter for the noise.
    static func grain(
        _ size: PixelSize, seed: Int, softness: Double, reach: Int = 0,
        shape: (VipsPicture) throws(ImagingError) -> VipsPicture = { $0 }
    ) throws(ImagingError) -> VipsPicture {
        let tile = PixelSize(width: grainSide, height: grainSide)
        let margin = min(Int(softness * 3) + 2 + reach, grainSide)
        let framed = PixelSize(width: tile.width + 2 * margin, height: tile.height + 2 * margin)
        let dots = try VipsCall(
            "gaussnoise",
            [
                "width": .whole(tile.width), "height": .whole(tile.height), "mean": .number(0), "sigma": .number(1), "seed": .whole(seed),
            ]
        ).picture().inMemory().applying(
            "embed",
            [
                "x": .whole(margin), "y": .whole(margin), "width": .whole(framed.width), "height": .whole(framed.height),
                "extend": .choice("repeat"),
            ])
        let shaped = try shape(try dots.inMemory().blurred(softness)).extracted(tile, left: margin, top: margin).inMemory()
        let tiles = try shaped.applying(
            "replicate",
            ["across": .whole(size.width / tile.width + 1), "down": .whole(size.height / tile.height + 1)])
        return try tiles.extracted(size, left: 0, top: 0)
    }

    /// The side of a tile of grain, in pixels.
    private static let grainSide = 640

    /// Perlin noise of one band from -1 to 1, deterministic for a seed.
    ///
    /// - Parameter cell: The size of a noise cell, in pixels.
    static func clouds(_ size: PixelSize, cell: Double, seed: Int) throws(ImagingError) -> VipsPicture {
        try VipsCall(
            "perlin",
            [
                "width": .whole(size.width), "height": .whole(size.height), "cell_size": .whole(max(8, Int(cell))), "seed": .whole(seed),
            ]
        ).picture()
    }
}
