internal import CRaster

extension Raster {
    /// Grain of one band around 0, deterministic for a seed: a seamless tile that is repeated.
    ///
    /// - Parameters:
    ///   - softness: The sigma by which the noise, of deviation 1, is blurred.
    ///   - reach: The radius of `shape`, in pixels.
    ///   - shape: A filter for the noise.
    static func grain(
        _ size: PixelSize, _ watch: CancellationWatch, seed: Int, softness: Double, reach: Int = 0,
        shape: (Raster) throws(ImagingError) -> Raster = { $0 }
    ) throws(ImagingError) -> Raster {
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
        let soft = try Raster(try dots.inMemory(), watch).blurred(softness).kept()
        let shaped = try shape(soft).kept().cropped(to: tile, left: margin, top: margin)
        return Raster(shaped.bands.map { Band(HG_TILE, plane: $0.keptPlane) }, size, watch)
    }

    /// The side of a tile of grain, in pixels.
    private static let grainSide = 640

    /// Perlin noise of one band from -1 to 1, deterministic for a seed.
    ///
    /// Large cells are computed at a smaller size, which makes no visible difference.
    ///
    /// - Parameter cell: The size of a noise cell, in pixels.
    static func clouds(_ size: PixelSize, _ watch: CancellationWatch, cell: Double, seed: Int) throws(ImagingError) -> Raster {
        let cell = max(8, Int(cell))
        let small = min(cell, cellAtSize)
        let noise = try VipsCall(
            "perlin",
            [
                "width": .whole((size.width * small + cell - 1) / cell), "height": .whole((size.height * small + cell - 1) / cell),
                "cell_size": .whole(small), "seed": .whole(seed),
            ]
        ).picture().inMemory()
        return try Raster(noise, watch).enlarged(to: size)
    }

    /// The largest cell that is computed at full size, in pixels.
    private static let cellAtSize = 16
}
