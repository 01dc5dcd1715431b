/// What draws the eye in a picture: skin first, then colour and detail.
///
/// A picture that is cut to a shape loses rows or columns, never both by much; so it is enough to know how much there is to
/// see in each row and in each column. (libvips has a cut of its own, which looks for one point and may miss a face.)
struct Attention {
    enum Axis { case across, down }

    /// Pixels of the longer side of the small picture that is looked at.
    private static let side = 96
    /// Where the middle of what is shown ideally is, as a share of the side: a head is above the middle of a body.
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

    /// Where a cut of so many pixels of a longer side begins.
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

/// A colour, 0 to 1 in each part.
private struct Colour {
    let red: Double
    let green: Double
    let blue: Double

    init(_ pixels: [UInt8], at offset: Int) {
        (red, green, blue) = (Double(pixels[offset]) / 255, Double(pixels[offset + 1]) / 255, Double(pixels[offset + 2]) / 255)
    }

    var light: Double { 0.30 * red + 0.59 * green + 0.11 * blue }
    var saturation: Double { max(red, green, blue) - min(red, green, blue) }

    /// How much the colour is like skin, 0 to 1. Skins differ in how light they are, and little in hue.
    var skin: Double {
        let length = (red * red + green * green + blue * blue).squareRoot()
        guard length > 0.2 else { return 0 }
        let (across, down, deep) = (red / length - 0.78, green / length - 0.51, blue / length - 0.36)
        let distance = (across * across + down * down + deep * deep).squareRoot()
        return max(0, 1 - distance * 6)
    }
}
