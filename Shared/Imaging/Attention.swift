/// Estimates the most salient part of a picture: skin first, then colour and detail.
///
/// A crop to a shape removes rows or columns, never many of both, so one weight per row and per column is enough. (libvips has
/// its own smart crop, which looks for one point and may miss a face.)
struct Attention {
    enum Axis { case across, down }

    /// The longer side of the reduced picture that is analysed, in pixels.
    private static let side = 96
    /// The preferred centre of the crop, as a share of the side: a head is above the middle of a body.
    private static let ideal: [Axis: Double] = [.across: 0.5, .down: 0.4]

    private var columns: [Double]
    private var rows: [Double]

    /// - Precondition: the picture is in memory, with three or four bands of eight bits.
    init(of picture: VipsPicture) throws(ImagingError) {
        let size = PixelSize(width: picture.width, height: picture.height)
        let small = try picture.onWhite().resized(to: size.fitted(into: Self.side))
        let pixels = try small.bytes()
        let (width, height) = (small.width, small.height)
        columns = Array(repeating: 0, count: width)
        rows = Array(repeating: 0, count: height)
        func colour(_ x: Int, _ y: Int) -> Colour { Colour(pixels, at: (min(y, height - 1) * width + min(x, width - 1)) * 3) }
        for y in 0..<height {
            for x in 0..<width {
                let here = colour(x, y)
                let edge = abs(here.light - colour(x + 1, y).light) + abs(here.light - colour(x, y + 1).light)
                let weight = here.skin * 1.8 + edge * 0.6 + here.saturation * 0.15
                columns[x] += weight
                rows[y] += weight
            }
        }
    }

    /// Returns where the best crop of `length` pixels begins on a side of `whole` pixels.
    func start(of length: Int, in whole: Int, _ axis: Axis) -> Int {
        guard length < whole else { return 0 }
        let weights = axis == .across ? columns : rows
        let ideal = Self.ideal[axis] ?? 0.5
        let window = max(1, Int((Double(length) / Double(whole) * Double(weights.count)).rounded()))
        var best = (start: 0, score: -1.0)
        for start in 0...max(0, weights.count - window) {
            let seen = weights[start..<min(weights.count, start + window)].reduce(0, +)
            let middle = (Double(start) + Double(window) / 2) / Double(weights.count)
            let score = (seen + 0.000_1) * (1 - 0.5 * abs(middle - ideal))
            if score > best.score { best = (start, score) }
        }
        return min(whole - length, Int((Double(best.start) / Double(weights.count) * Double(whole)).rounded()))
    }
}

/// A colour with components of 0 to 1.
private struct Colour {
    let red: Double
    let green: Double
    let blue: Double

    init(_ pixels: [UInt8], at offset: Int) {
        (red, green, blue) = (Double(pixels[offset]) / 255, Double(pixels[offset + 1]) / 255, Double(pixels[offset + 2]) / 255)
    }

    var light: Double { 0.30 * red + 0.59 * green + 0.11 * blue }
    var saturation: Double { max(red, green, blue) - min(red, green, blue) }

    /// The similarity to skin, 0 to 1. Skins differ in lightness, and little in hue.
    var skin: Double {
        let length = (red * red + green * green + blue * blue).squareRoot()
        guard length > 0.2 else { return 0 }
        let (across, down, deep) = (red / length - 0.78, green / length - 0.51, blue / length - 0.36)
        let distance = (across * across + down * down + deep * deep).squareRoot()
        return max(0, 1 - distance * 6)
    }
}
