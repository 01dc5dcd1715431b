/// The largest photo that is sent unchanged, and the size to which larger photos are scaled down.
struct PhotoLimits: Sendable, Equatable {
    /// The pixels of a longer side that the API takes: `ImageLimits` in `Shared/ImageProbe/ImageInfo.swift`, which `ClientLimitTests`
    /// compares with it.
    static let maxSide = 12_000
    /// The pixels that the API takes; as ``maxSide``.
    static let maxPixelsOfAPI = 40_000_000

    /// The pixels of the largest photo that is sent unchanged.
    let maxPixels: Int
    /// The longer side that a larger photo gets at most.
    let scaledSide: Int
    /// The pixels that a larger photo gets at most.
    let scaledPixels: Int

    /// The limits for the photo of an order, and for an event's photo. The API's results have up to 4,096 pixels a side; a photo of more
    /// than 16 megapixels may also be larger than 10 MB as a JPEG of good quality.
    static let picture = Self(maxPixels: maxPixelsOfAPI, scaledSide: 8_192, scaledPixels: 16_000_000)

    /// Of a photo of a face; the API takes up to 16 megapixels.
    static let face = Self(maxPixels: 16_000_000, scaledSide: 4_096, scaledPixels: 12_000_000)

    /// Whether a photo can be sent unchanged. A photo of unknown size can: the API checks it.
    func allow(_ size: PhotoSize?, bytes: Int) -> Bool {
        guard bytes <= ArgumentLimits.maxPhotoBytes else { return false }
        return size.map { $0.longSide <= Self.maxSide && $0.pixels <= maxPixels } ?? true
    }

    /// Returns the longer side of the scaled photo. For a photo of unknown size it is the side of a square.
    func scaledSide(of size: PhotoSize?) -> Int {
        guard let size else { return min(scaledSide, Int(Double(scaledPixels).squareRoot())) }
        let factor = min(1, (Double(scaledPixels) / Double(size.pixels)).squareRoot())
        return max(1, min(scaledSide, Int(Double(size.longSide) * factor)))
    }

    /// The text for an error.
    var description: String {
        "\(ArgumentLimits.maxPhotoBytes >> 20) MB, \(maxPixels / 1_000_000) megapixels and \(Self.maxSide) pixels a side"
    }
}
