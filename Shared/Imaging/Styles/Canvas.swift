/// The picture a style works on: in memory, so that it can be read in any order and more than once.
struct Canvas {
    /// Red, green and blue, eight bits each.
    let picture: VipsPicture
    private let watch: CancellationWatch

    init(_ picture: VipsPicture, watch: CancellationWatch) throws(ImagingError) {
        self.watch = watch
        self.picture = try Self.keep(picture, watch)
    }

    var size: PixelSize { PixelSize(width: picture.width, height: picture.height) }

    /// Pixels that are as much of this picture as one pixel is of a picture of 1,000 pixels: what brushes, lines and dots are
    /// measured in, so that a picture looks the same at every size.
    var unit: Double { Double(size.longSide) / 1_000 }

    /// The canvas with its longer side scaled down to so many pixels. What is broad is painted on a small canvas.
    func reduced(to side: Int) throws(ImagingError) -> Canvas {
        guard size.longSide > side else { return self }
        return try Canvas(try picture.resized(to: size.fitted(into: side)), watch: watch)
    }

    /// Something painted on a smaller canvas, at this one's size.
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
