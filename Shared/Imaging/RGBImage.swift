/// A decoded picture: red, green and blue, eight bits each, row after row without gaps.
public struct RGBImage: Sendable, Equatable {
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int
    /// `width * height * 3` bytes.
    public let pixels: [UInt8]

    /// Makes a picture of its pixels.
    ///
    /// - Precondition: `pixels.count == width * height * 3`.
    public init(width: Int, height: Int, pixels: [UInt8]) {
        precondition(width > 0 && height > 0 && pixels.count == width * height * 3, "pixels do not fit the size")
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// The longer side, in pixels.
    public var longSide: Int { max(width, height) }
}
