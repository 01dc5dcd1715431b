import Dispatch
import Imaging
import TestSupport

/// Bad photos, made from the good ones as a person or a phone spoils them.
enum BadPhotos {
    /// Makes photos on another thread. A debug build takes a second for each, and the tests beside this one would miss their deadlines.
    static func made<Value: Sendable>(_ make: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: make)) }
        }
    }

    /// Returns a photo with its levels multiplied and raised.
    static func lit(_ name: String, _ factor: Double, _ offset: Double = 0) throws -> [UInt8] {
        let image = try image(name)
        return try file(
            RGBImage(
                width: image.width, height: image.height,
                pixels: image.pixels.map { UInt8(min(255, max(0, Double($0) * factor + offset))) }))
    }

    /// Returns a photo that is out of focus: each pixel is the mean of a square.
    static func blurred(_ name: String, radius: Int = 6) throws -> [UInt8] {
        let image = try image(name)
        return try file(image.smoothedAcross(radius).transposed.smoothedAcross(radius).transposed)
    }

    /// Returns a photo that the phone held turned by this number of quarters, without saying so.
    static func turned(_ name: String, quarters: Int) throws -> [UInt8] {
        let image = try image(name)
        let (right, bottom) = (image.width - 1, image.height - 1)
        switch quarters {
        case 1: return try file(image.drawn(width: bottom + 1, height: right + 1) { ($1, bottom - $0) })
        case 2: return try file(image.drawn { (right - $0, bottom - $1) })
        default: return try file(image.drawn(width: bottom + 1, height: right + 1) { (right - $1, $0) })
        }
    }

    /// Returns a photo of a head that is tilted by 40 degrees: about 3/4 and 2/3 of the sides are seen.
    static func tilted(_ name: String) throws -> [UInt8] {
        let image = try image(name)
        let (x, y) = (image.width / 2, image.height / 2)
        return try file(image.drawn { (x + (766 * ($0 - x) - 643 * ($1 - y)) / 1000, y + (643 * ($0 - x) + 766 * ($1 - y)) / 1000) })
    }

    /// Returns a photo from far away.
    static func far(_ name: String, times: Int = 5) throws -> [UInt8] {
        let image = try image(name)
        let (x, y) = (image.width / 2, image.height / 2)
        return try file(image.drawn { (x + times * ($0 - x), y + times * ($1 - y)) })
    }

    private static func image(_ name: String) throws -> RGBImage {
        try SharedEngines.decoder.decodeUpright(Photos.read(name), maxSide: 480).image
    }

    private static func file(_ image: RGBImage) throws -> [UInt8] {
        try ImagePipeline(decoder: SharedEngines.decoder).normalise(image, quality: 95).picture.bytes
    }
}

extension RGBImage {
    /// Returns a picture whose pixels are those at other places of this one; grey where those are outside.
    fileprivate func drawn(width: Int? = nil, height: Int? = nil, _ place: (Int, Int) -> (Int, Int)) -> RGBImage {
        let size = (width: width ?? self.width, height: height ?? self.height)
        var drawn = [UInt8](repeating: 128, count: size.width * size.height * 3)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (sourceX, sourceY) = place(x, y)
                guard 0..<self.width ~= sourceX, 0..<self.height ~= sourceY else { continue }
                let (target, source) = ((y * size.width + x) * 3, (sourceY * self.width + sourceX) * 3)
                for channel in 0..<3 { drawn[target + channel] = pixels[source + channel] }
            }
        }
        return RGBImage(width: size.width, height: size.height, pixels: drawn)
    }

    fileprivate var transposed: RGBImage { drawn(width: height, height: width) { ($1, $0) } }

    /// Returns the picture with each pixel the mean of those beside it, up to a distance.
    fileprivate func smoothedAcross(_ radius: Int) -> RGBImage {
        var smoothed = pixels
        for row in stride(from: 0, to: pixels.count, by: width * 3) {
            for channel in 0..<3 {
                func level(_ x: Int) -> Int { Int(pixels[row + min(max(x, 0), width - 1) * 3 + channel]) }
                var sum = (-radius...radius).reduce(0) { $0 + level($1) }
                for x in 0..<width {
                    smoothed[row + x * 3 + channel] = UInt8(sum / (2 * radius + 1))
                    sum += level(x + radius + 1) - level(x - radius)
                }
            }
        }
        return RGBImage(width: width, height: height, pixels: smoothed)
    }
}
