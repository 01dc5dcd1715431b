import ImageProbe
import Imaging
import Logging
import TestSupport

/// Sample pictures, and access to the pixels of results.
enum Samples {
    /// The decoder of all tests of the process.
    static let decoder = ImageDecoder(sandbox: .required, logger: Logger(label: "imaging-tests") { _ in SwiftLogNoOpLogHandler() })
    static let pipeline = ImagePipeline(decoder: decoder)

    /// A photo of a man in front of a chandelier, 1,434 by 2,333 pixels.
    static func portrait() throws -> [UInt8] { try Photos.load("original/obama3") }

    /// Four quarters of red and green above, blue and white below, 80 by 60 pixels, as a JPEG without metadata.
    static func quarters() throws -> [UInt8] {
        let colours: [[UInt8]] = [[220, 30, 30], [30, 200, 30], [30, 30, 220], [255, 255, 255]]
        let png = PNGFile.encode(width: 80, height: 60, bands: 3) { x, y, band in colours[(y < 30 ? 0 : 2) + (x < 40 ? 0 : 1)][band] }
        return try pipeline.normalise(png, maxSide: 80, quality: 95).picture.bytes
    }

    /// The quarters at top left, top right, bottom left and bottom right of the upright picture, by TIFF's definition of the orientation.
    static func uprightQuarters(_ orientation: UInt8) -> [[Int]] {
        let (red, green, blue, white) = ([220, 30, 30], [30, 200, 30], [30, 30, 220], [255, 255, 255])
        return [
            [red, green, blue, white], [green, red, white, blue], [white, blue, green, red], [blue, white, red, green],
            [red, blue, green, white], [blue, red, white, green], [white, green, blue, red], [green, white, red, blue],
        ][Int(orientation) - 1]
    }

    /// A picture of noise: nothing compresses it.
    static func noise(side: Int) -> [UInt8] {
        var random = SeededGenerator(seed: 1)
        return PNGFile.encode(width: side, height: side, bands: 3) { _, _, _ in UInt8.random(in: 0...255, using: &random) }
    }

    static func pixels(_ picture: EncodedPicture) throws -> RGBImage {
        try decoder.decodeUpright(picture.bytes, maxSide: 12_000).image
    }
}

extension RGBImage {
    /// A pixel whose place is given as shares of the sides.
    func colour(_ across: Double, _ down: Double) -> [Int] {
        let start = (Int(down * Double(height)) * width + Int(across * Double(width))) * 3
        return pixels[start..<(start + 3)].map(Int.init)
    }

    /// The colours in the middle of the quarters, in the order of ``Samples/uprightQuarters(_:)``.
    var quarters: [[Int]] { [colour(0.25, 0.25), colour(0.75, 0.25), colour(0.25, 0.75), colour(0.75, 0.75)] }

    func level(_ x: Int, _ y: Int, _ channel: Int) -> UInt8 { pixels[(y * width + x) * 3 + channel] }
}

/// Returns whether two colours are similar.
func areAlike(_ left: [Int], _ right: [Int], within tolerance: Int = 24) -> Bool {
    zip(left, right).allSatisfy { abs($0 - $1) <= tolerance }
}

/// Returns the error code of `work`; nil when it succeeds.
func code(_ work: () throws -> Void) -> ImagingError.Code? {
    do {
        try work()
        return nil
    } catch {
        return (error as? ImagingError)?.code
    }
}
