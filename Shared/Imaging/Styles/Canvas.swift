/// The picture a style works on: in memory, so that it can be read in any order and more than once.
struct Canvas {
    /// Red, green and blue, eight bits each.
    let picture: VipsPicture
    private let watch: CancellationWatch

    init(_ picture: VipsPicture, watch: CancellationWatch) throws(ImagingError) {
        self.picture = try picture.inMemory()
        self.watch = watch
        watch.watch(self.picture)
    }

    var size: PixelSize { PixelSize(width: picture.width, height: picture.height) }

    /// Pixels that are as much of this picture as one pixel is of a picture of 1,000 pixels: what brushes, lines and dots are
    /// measured in, so that a picture looks the same at every size.
    var unit: Double { Double(size.longSide) / 1_000 }

    /// Computes a picture that is used more than once.
    func keep(_ picture: VipsPicture) throws(ImagingError) -> VipsPicture {
        try watch.checkpoint()
        let kept = try picture.inMemory()
        watch.watch(kept)
        return kept
    }
}
