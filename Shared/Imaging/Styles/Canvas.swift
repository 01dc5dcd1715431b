/// The picture that a style processes: in memory, so that it can be read in any order and more than once.
struct Canvas {
    /// Red, green and blue, eight bits each.
    let picture: Raster
    private let source: VipsPicture
    private var watch: CancellationWatch { picture.watch }

    init(_ picture: VipsPicture, watch: CancellationWatch) throws(ImagingError) {
        try watch.checkpoint()
        source = try picture.inMemory()
        watch.watch(source)
        self.picture = try Raster(source, watch)
    }

    var size: PixelSize { picture.size }

    /// The unit of brushes, lines and dots: a thousandth of the longer side, in pixels, so that a style looks the same at every
    /// size.
    var unit: Double { Double(size.longSide) / 1_000 }

    /// The canvas with its longer side scaled down to a number of pixels, for broad structures.
    func reduced(to side: Int) throws(ImagingError) -> Canvas {
        guard size.longSide > side else { return self }
        return try Canvas(try source.resized(to: size.fitted(into: side)), watch: watch)
    }

    /// Enlarges a picture of a smaller canvas to the size of this one.
    func enlarge(_ picture: Raster) throws(ImagingError) -> Raster { try picture.kept().enlarged(to: size) }

    /// Two bands with the coordinates of each pixel.
    func places() -> Raster { .places(size, watch) }

    func grain(
        seed: Int, softness: Double, reach: Int = 0, shape: (Raster) throws(ImagingError) -> Raster = { $0 }
    ) throws(ImagingError) -> Raster {
        try .grain(size, watch, seed: seed, softness: softness, reach: reach, shape: shape)
    }

    func clouds(cell: Double, seed: Int) throws(ImagingError) -> Raster { try .clouds(size, watch, cell: cell, seed: seed) }
}
