/// The picture that a style processes: in memory, so that it can be read in any order and more than once.
struct Canvas {
    /// Red, green and blue, eight bits each.
    let picture: VipsPicture
    private let watch: CancellationWatch

    init(_ picture: VipsPicture, watch: CancellationWatch) throws(ImagingError) {
        self.watch = watch
        self.picture = try Self.keep(picture, watch)
    }

    var size: PixelSize { PixelSize(width: picture.width, height: picture.height) }

    /// The unit of brushes, lines and dots: a thousandth of the longer side, in pixels, so that a style looks the same at every
    /// size.
    var unit: Double { Double(size.longSide) / 1_000 }

    /// The canvas with its longer side scaled down to a number of pixels, for broad structures.
    func reduced(to side: Int) throws(ImagingError) -> Canvas {
        guard size.longSide > side else { return self }
        return try Canvas(try picture.resized(to: size.fitted(into: side)), watch: watch)
    }

    /// Enlarges a picture of a smaller canvas to the size of this one.
    func enlarge(_ picture: VipsPicture) throws(ImagingError) -> VipsPicture { try keep(picture).enlarged(to: size) }

    /// Computes a picture that is used more than once.
    func keep(_ picture: VipsPicture) throws(ImagingError) -> VipsPicture { try Self.keep(picture, watch) }

    private static func keep(_ picture: VipsPicture, _ watch: CancellationWatch) throws(ImagingError) -> VipsPicture {
        try watch.checkpoint()
        let kept = try picture.inMemory()
        watch.watch(kept)
        return kept
    }
}
