/// The size of a picture that a decoder announces before its pixels.
package struct DecodedSize: Equatable, Sendable {
    /// Pixels across and down.
    let size: PixelSize
    /// 3, or 4 with transparency.
    let bands: Int
    /// Pixels across and down in the file, once upright.
    let original: PixelSize

    /// Bytes of the pixels.
    var byteCount: Int { size.width * size.height * bands }

    /// Makes a size of its numbers, which are not checked.
    package init(width: Int, height: Int, bands: Int, originalWidth: Int, originalHeight: Int) {
        size = PixelSize(width: width, height: height)
        self.bands = bands
        original = PixelSize(width: originalWidth, height: originalHeight)
    }

    init(size: PixelSize, bands: Int, original: PixelSize) {
        self.size = size
        self.bands = bands
        self.original = original
    }

    var numbers: [Int] { [size.width, size.height, bands, original.width, original.height] }
}

/// A picture from a decoder: upright, eight bits a band, row after row without gaps.
struct DecodedPicture: Sendable {
    let size: PixelSize
    /// 3, or 4 with transparency.
    let bands: Int
    let original: PixelSize
    let pixels: [UInt8]
}
