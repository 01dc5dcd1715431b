/// What a picture may have at most, checked against its header before a pixel is decoded.
public struct DecodingLimits: Sendable {
    /// The most pixels.
    public var maxPixels: Int
    /// The most pixels on either side.
    public var maxSide: Int
    /// The fewest pixels on either side.
    public var minSide: Int

    /// Makes limits; the defaults are what the API promises.
    public init(maxPixels: Int = 40_000_000, maxSide: Int = 12_000, minSide: Int = 1) {
        self.maxPixels = maxPixels
        self.maxSide = maxSide
        self.minSide = minSide
    }

    /// Throws when a picture of that size is not allowed.
    func check(width: Int, height: Int) throws(ImagingError) {
        let fits = width <= maxSide && height <= maxSide && width * height <= maxPixels
        guard fits else { throw ImagingError(.tooLarge, "\(width)x\(height) pixels are more than the limit") }
        guard min(width, height) >= minSide else {
            throw ImagingError(.corrupt, "\(width)x\(height) pixels are fewer than the limit")
        }
    }
}
