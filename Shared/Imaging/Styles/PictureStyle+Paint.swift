extension PictureStyle {
    /// Maximum longer side in pixels at which strokes are computed; for a larger picture the painting is enlarged. The style
    /// `vintage` is exempt, because its result is a photo and must stay sharp.
    private static let paintingSide = 2_048

    /// Paints a picture in this style: three bands of eight bits in sRGB, of the canvas' size.
    func paint(_ canvas: Canvas) throws(ImagingError) -> VipsPicture {
        guard self != .vintage else { return try canvas.vintage().picture() }
        let board = try canvas.reduced(to: Self.paintingSide)
        let painted =
            switch self {
            case .animeStyle: try board.anime()
            case .pencilSketch: try board.pencilSketch()
            case .watercolor: try board.watercolour()
            case .oilPainting: try board.oilPainting()
            case .popArt: try board.popArt()
            case .vintage: try board.vintage()
            }
        return try canvas.finished(painted)
    }
}

extension Canvas {
    /// Enlarges a painting to the canvas' size.
    fileprivate func finished(_ painted: Raster) throws(ImagingError) -> VipsPicture {
        try painted.picture().resized(to: size)
    }
}
