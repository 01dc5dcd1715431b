extension PictureStyle {
    /// Paints a picture in this style: three bands of eight bits in sRGB, of the canvas' size.
    func paint(_ canvas: Canvas) throws(ImagingError) -> VipsPicture {
        switch self {
        case .animeStyle: try canvas.anime()
        case .pencilSketch: try canvas.pencilSketch()
        case .watercolor: try canvas.watercolor()
        case .oilPainting: try canvas.oilPainting()
        case .popArt: try canvas.popArt()
        case .vintage: try canvas.vintage()
        }
    }
}

extension Canvas {
    private func soft(_ radius: Double) throws(ImagingError) -> VipsPicture {
        try keep(try picture.applying("gaussblur", ["sigma": .number(max(radius * unit, 0.5))]))
    }

    func grey() throws(ImagingError) -> VipsPicture { try picture.applying("colourspace", ["space": .choice("b-w")]) }

    func pencilSketch() throws(ImagingError) -> VipsPicture {
        let grey = try keep(try grey())
        let blurred = try grey.applying("gaussblur", ["sigma": .number(max(4 * unit, 0.8))])
        let sketch = try VipsCall("divide", ["left": .picture(grey), "right": .picture(try blurred.linear(1, 1))]).picture()
        let shade = try sketch.linear(255, 0).bytesOnly()
        return try shade.applying("bandjoin_const", ["c": .numbers([0])]).applying("extract_band", ["band": .whole(0)])
            .applying("colourspace", ["space": .choice("srgb")])
    }

    func anime() throws(ImagingError) -> VipsPicture { try soft(3).linear(1.0 / 32, 0).bytesOnly().linear(32, 16).bytesOnly() }
    func watercolor() throws(ImagingError) -> VipsPicture { try soft(2).linear(0.8, 51).bytesOnly() }
    func oilPainting() throws(ImagingError) -> VipsPicture {
        try picture.applying("rank", ["width": .whole(7), "height": .whole(7), "index": .whole(24)])
    }
    func popArt() throws(ImagingError) -> VipsPicture { try soft(2).linear(1.0 / 64, 0).bytesOnly().linear(80, 8).bytesOnly() }
    func vintage() throws(ImagingError) -> VipsPicture {
        try picture.applying("linear", ["a": .numbers([0.85, 0.78, 0.6]), "b": .numbers([36, 28, 30])]).bytesOnly()
    }
}

extension VipsPicture {
    func linear(_ scale: Double, _ offset: Double) throws(ImagingError) -> VipsPicture {
        try applying("linear", ["a": .numbers([scale]), "b": .numbers([offset])])
    }

    func bytesOnly() throws(ImagingError) -> VipsPicture { try applying("cast", ["format": .choice("uchar")]) }
}
