internal import Imaging

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// How a face is presented to the camera: its foreshortening, its size, its light and its background.
///
/// ``LivenessDecision`` compares it between the photos of one challenge.
public struct FacePresentation: Sendable {
    /// Bins of the histogram of the background for each of the two shares of colour, and for the brightness.
    static let colourBins = 8
    static let brightnessBins = 4
    /// Minimum share of the photo that must be background for it to be compared.
    private static let minBackground = 0.1
    /// What around the face belongs to the person (hair, neck and shoulders), in sides of the face: beside, above and below it.
    private static let person = (beside: 0.6, above: 0.6, below: 10.0)

    /// The distance between the eyes, divided by the distance of the base of the nose from the line through them.
    ///
    /// Both are shorter in a smaller picture; only the first is shorter when the face, or a print of it, is turned to a side.
    let aspect: Double
    /// Side of the face divided by the longer side of the photo.
    let size: Double
    /// Mean red, green and blue of the middle of the face, 0 to 255.
    let colour: SIMD3<Double>
    /// The shares of the background's colours and brightnesses, which sum up to 1; nil when the photo shows too little of it.
    let background: [Double]?
}

extension FacePresentation {
    init(_ box: FaceBox, _ pose: HeadPose, _ aligned: AlignedFace, in image: RGBImage, reduced: RGBImage) {
        self.init(
            aspect: pose.eyeDistance / max(1, pose.noseDistance), size: box.width / Double(image.longSide), colour: aligned.colour,
            background: Self.background(of: reduced, without: box.scaled(by: Double(reduced.longSide) / Double(image.longSide))))
    }

    private static func background(of image: RGBImage, without face: FaceBox) -> [Double]? {
        let side = face.width
        let across = (face.left - person.beside * side)...(face.right + person.beside * side)
        let down = (face.top - person.above * side)...(face.bottom + person.below * side)
        var counts = [Double](repeating: 0, count: colourBins * colourBins * brightnessBins)
        var total = 0.0
        for y in 0..<image.height {
            let isBeside = down.contains(Double(y))
            for x in 0..<image.width where !(isBeside && across.contains(Double(x))) {
                counts[bin(of: image.pixels, at: (y * image.width + x) * 3)] += 1
                total += 1
            }
        }
        guard total >= minBackground * Double(image.width * image.height) else { return nil }
        return counts.map { $0 / total }
    }

    /// Returns the bin of a pixel by its shares of red and of green, which do not depend on the exposure, and by its brightness.
    private static func bin(of pixels: [UInt8], at index: Int) -> Int {
        let (red, green, blue) = (Int(pixels[index]), Int(pixels[index + 1]), Int(pixels[index + 2]))
        let sum = red + green + blue
        // A dark pixel has no colour.
        guard sum >= 48 else { return colourBins / 3 * colourBins + colourBins / 3 }
        func share(_ level: Int) -> Int { min(colourBins - 1, level * colourBins / sum) }
        let brightness = min(brightnessBins - 1, sum * brightnessBins / 766)
        return (brightness * colourBins + share(red)) * colourBins + share(green)
    }
}

// MARK: Comparison

extension FacePresentation {
    /// Returns the share of the backgrounds' colours that both have, 0 to 1; nil when one shows too little of it.
    func commonBackground(with other: FacePresentation) -> Double? {
        guard let background, let theirs = other.background else { return nil }
        return zip(background, theirs).reduce(0) { $0 + min($1.0, $1.1) }
    }

    /// Returns by how many powers of e the brightness of the face differs.
    func brightnessDifference(from other: FacePresentation) -> Double { abs(log((colour.sum() + 1) / (other.colour.sum() + 1))) }

    /// Returns by how many powers of e the proportions of red to green, or of blue to green, differ.
    func castDifference(from other: FacePresentation) -> Double {
        func proportions(_ colour: SIMD3<Double>) -> SIMD2<Double> {
            SIMD2(log((colour.x + 1) / (colour.y + 1)), log((colour.z + 1) / (colour.y + 1)))
        }
        let difference = proportions(colour) - proportions(other.colour)
        return max(abs(difference.x), abs(difference.y))
    }
}
