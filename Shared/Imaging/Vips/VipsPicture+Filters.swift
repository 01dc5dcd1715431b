internal import CVips

extension VipsPicture {
    /// A Gaussian blur. What is blurred much is blurred at a smaller size: nobody sees the difference.
    func blurred(_ sigma: Double) throws(ImagingError) -> VipsPicture {
        guard sigma >= 0.3 else { return self }
        let shrink = Int(sigma / Self.sigmaAtSize)
        guard shrink >= 2, min(width, height) > shrink * 4 else { return try applying("gaussblur", ["sigma": .number(sigma)]) }
        let small = try applying("shrink", ["hshrink": .number(Double(shrink)), "vshrink": .number(Double(shrink)), "ceil": .flag(true)])
        let blurred = try small.applying("gaussblur", ["sigma": .number(sigma / Double(shrink))]).inMemory()
        return try blurred.enlarged(to: PixelSize(width: width, height: height))
    }

    /// The most pixels of blur at which every pixel is still looked at.
    private static let sigmaAtSize = 3.0

    /// The picture at a larger size, smoothly; colours stay within those there are.
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

    /// Each pixel taken from somewhere else: from so many pixels further right and down as the two bands of `offsets` say.
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

    /// Two bands: how far each pixel is to the right and down.
    static func places(_ size: PixelSize) throws(ImagingError) -> VipsPicture {
        try VipsCall("xyz", ["width": .whole(size.width), "height": .whole(size.height)]).picture()
    }

    /// Noise of one band around 0, the same for one seed each time.
    static func noise(_ size: PixelSize, seed: Int, deviation: Double = 1) throws(ImagingError) -> VipsPicture {
        try VipsCall(
            "gaussnoise",
            [
                "width": .whole(size.width), "height": .whole(size.height), "mean": .number(0), "sigma": .number(deviation),
                "seed": .whole(seed),
            ]
        ).picture()
    }

    /// Clouds of one band from -1 to 1, the same for one seed each time.
    ///
    /// - Parameter cell: Pixels from one cloud to the next.
    static func clouds(_ size: PixelSize, cell: Double, seed: Int) throws(ImagingError) -> VipsPicture {
        try VipsCall(
            "perlin",
            [
                "width": .whole(size.width), "height": .whole(size.height), "cell_size": .whole(max(8, Int(cell))), "seed": .whole(seed),
            ]
        ).picture()
    }
}
