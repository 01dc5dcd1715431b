internal import Foundation
public import Imaging

/// Renders what a camera sees of a photo that is held before it.
public enum AttackRenderer {
    /// Pixels of the camera's picture.
    private static let size = (width: 320, height: 400)
    /// The distance of the camera from the paper, in widths of the paper.
    private static let distance = 2.2

    /// Returns a print of a photo, turned about its vertical axis by some degrees, before a grey wall.
    public static func print(_ photo: RGBImage, turnedBy degrees: Double, share: Double = 0.8) -> RGBImage {
        let (cosine, sine) = (cos(degrees * .pi / 180), sin(degrees * .pi / 180))
        let (width, height) = (Double(photo.width), Double(photo.height))
        let unit = share * min(Double(size.width), Double(size.height) * width / height)
        let corners = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)].map { x, y -> SIMD2<Double> in
            let depth = 1 + x * sine / distance
            return SIMD2(
                Double(size.width) / 2 + unit * x * cosine / depth, Double(size.height) / 2 + unit * y * height / width / depth)
        }
        let paper = [SIMD2(0, 0), SIMD2(width, 0), SIMD2(0, height), SIMD2(width, height)]
        guard let map = Homography(from: corners, to: paper) else { preconditionFailure("the paper is seen from its edge") }
        return picture { x, y in
            guard let place = map(SIMD2(Double(x), Double(y))), 0..<width ~= place.x, 0..<height ~= place.y else {
                return SIMD3(repeating: 150 + Double(y) / 40)
            }
            return photo.colour(at: place)
        }
    }

    /// Returns a photo on a screen, whose pixels interfere with those of the camera.
    public static func screen(_ photo: RGBImage, turnedBy degrees: Double) -> RGBImage {
        let shown = print(photo, turnedBy: degrees)
        return picture { x, y in
            let colour = shown.colour(at: SIMD2(Double(x), Double(y)))
            let phase = Double(x) * 0.71 + Double(y) * 0.23
            let moire = SIMD3(sin(phase), sin(phase + 2.1), sin(phase + 4.2)) * 0.1 + 1
            return colour * moire * SIMD3(0.95, 1, 1.08)
        }
    }

    /// Returns a photo whose levels and edges are changed a little, so that no byte of its file stays.
    public static func altered(_ photo: RGBImage) -> RGBImage {
        RGBImage(width: photo.width - 2, height: photo.height - 2) { x, y in
            photo.colour(at: SIMD2(Double(x) + 1, Double(y) + 1)) * 1.03 + 1
        }
    }

    private static func picture(_ colour: (Int, Int) -> SIMD3<Double>) -> RGBImage {
        RGBImage(width: size.width, height: size.height, colour)
    }
}

extension RGBImage {
    /// Creates a picture from the colour of each pixel.
    init(width: Int, height: Int, _ colour: (Int, Int) -> SIMD3<Double>) {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 3)
        for y in 0..<height {
            for x in 0..<width {
                let level = colour(x, y).clamped(lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 255)).rounded(
                    .toNearestOrEven)
                pixels.append(UInt8(level.x))
                pixels.append(UInt8(level.y))
                pixels.append(UInt8(level.z))
            }
        }
        self.init(width: width, height: height, pixels: pixels)
    }

    /// Returns the colour between pixels.
    func colour(at place: SIMD2<Double>) -> SIMD3<Double> {
        let (x, y) = (Int(place.x.rounded(.down)), Int(place.y.rounded(.down)))
        let (across, down) = (place.x - Double(x), place.y - Double(y))
        func pixel(_ x: Int, _ y: Int) -> SIMD3<Double> {
            let index = (min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)) * 3
            return SIMD3(Double(pixels[index]), Double(pixels[index + 1]), Double(pixels[index + 2]))
        }
        let top = pixel(x, y) * (1 - across) + pixel(x + 1, y) * across
        return top * (1 - down) + (pixel(x, y + 1) * (1 - across) + pixel(x + 1, y + 1) * across) * down
    }
}
