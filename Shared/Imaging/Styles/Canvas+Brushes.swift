internal import Foundation

/// Rises smoothly from 0 at one value to 1 at another.
func smoothstep(_ value: Double, _ from: Double, _ to: Double) -> Double {
    let share = min(max((value - from) / (to - from), 0), 1)
    return share * share * (3 - 2 * share)
}

extension Canvas {
    /// The picture in even patches with sharp edges, as a brush of that radius (in units) would leave it.
    ///
    /// A generalised Kuwahara filter in one convolution: every place gets a weighted mean of the colours of its surrounding areas; the
    /// weight of an area is the inverse fourth power of its variance, so the most even areas dominate.
    func patches(radius: Double, of source: Raster? = nil) throws(ImagingError) -> Raster {
        let source = source ?? picture
        let reach = max(1, Int((radius * unit).rounded()))
        let sigma = max(Double(reach) / 2, 0.6)
        let mean = try source.blurred(sigma).kept()
        let light = try source.grey().kept()
        let square = try (light * light).blurred(sigma)
        // One level more, so that faint differences, as of noise, count as even.
        let centre = mean.grey() + 1
        let weight = try (square - centre * centre).table(Self.evenness).kept()
        var sum: (colours: Raster, weights: Raster)?
        for (across, down) in Self.ring(reach) {
            let (colours, weights) = (mean.shifted(right: across, down: down), weight.shifted(right: across, down: down))
            sum = sum.map { ($0.colours + colours * weights, $0.weights + weights) } ?? (colours * weights, weights)
        }
        guard let sum else { return mean }
        return try (sum.colours / sum.weights).asBytes().kept()
    }

    /// The weight of a place, given the variance of its light.
    private static let evenness = (0..<4_096).map { Float(pow((Double($0) / 65_025 + 0.0004) * 400, -4)) }

    /// The places whose surroundings are compared: the middle, and eight around it.
    private static func ring(_ reach: Int) -> [(across: Int, down: Int)] {
        let diagonal = Int((Double(reach) * 0.7071).rounded())
        let straight = [(0, 0), (reach, 0), (-reach, 0), (0, reach), (0, -reach)]
        return straight + [-diagonal, diagonal].flatMap { across in [(across, -diagonal), (across, diagonal)] }
    }

    /// Patches that are broad where there is little detail and fine where there is much, such as in a face.
    func paintedPatches(broad: Double, twice: Double? = nil, fine: Double, keeping: Double) throws(ImagingError) -> Raster {
        var flat = try patches(radius: broad)
        if let twice { flat = try patches(radius: twice, of: flat) }
        return try flat.mixed(with: patches(radius: fine), by: detail().curve { $0 * keeping }).asBytes().kept()
    }

    /// The amount of detail: 255 where it is high, 0 where the picture is even.
    func detail() throws(ImagingError) -> Raster {
        let light = try picture.grey().kept()
        let difference = try (light - light.blurred(2 * unit)).magnitude().asBytes()
        return try difference.blurred(4 * unit).curve { smoothstep($0, 0.03, 0.11) }
    }

    /// Light, stretched from black to white, and brightened or darkened so that half the picture is lighter than the middle.
    ///
    /// - Parameter darkening: The limit of darkening, as an exponent; 1 forbids it.
    func tone(_ light: Raster, darkening: Double = 1.5) throws(ImagingError) -> Raster {
        let light = try light.kept()
        let levels = try light.percentiles([0.02, 0.5, 0.97])
        let (low, middle, high) = (levels[0], levels[1], levels[2])
        let span = max(high - low, 0.24)
        let balance = min(max((middle - low) / span, 0.02), 0.98)
        let exponent = min(max(log(0.5) / log(balance), 0.55), darkening)
        return light.curve { pow(min(max(($0 - low) / span, 0), 1), exponent) }
    }

    /// The directions along which the picture changes least, as two bands of a unit vector: the directions of brush strokes.
    ///
    /// - Parameter smoothing: The radius over which directions are averaged, in units.
    func flow(smoothing: Double) throws(ImagingError) -> Raster {
        let light = try picture.grey().kept()
        let across = light.convolved([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
        let down = light.convolved([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
        let tensor = try Raster.joined([across * across, down * down, across * down]).blurred(smoothing * unit)
        let difference = tensor.band(0) - tensor.band(1)
        let mixed = tensor.band(2)
        let cosine = difference / (Raster.joined([difference, mixed * 2]).length() + 0.000_001)
        // Half the angle, by the half-angle formulas; the tangent is at right angles to the gradient.
        let right = (cosine * 0.5 + 0.500_001).squareRoot()
        let below = (cosine * -0.5 + 0.500_001).squareRoot()
        return try Raster.joined([(below * -1).withSign(of: mixed), right]).kept()
    }

    /// A picture smeared along directions, over a length in units.
    ///
    /// - Parameter isCentred: Whether it is smeared in both directions, so that nothing is displaced.
    func smeared(_ picture: Raster, along flow: Raster, length: Double, isCentred: Bool = false) throws(ImagingError) -> Raster {
        // Each pass doubles the length: the mean of two places that already are means along the way.
        let passes = isCentred ? 2 : 4
        var smeared = try picture.kept()
        for pass in 0..<passes {
            let offsets = flow * (length * unit * Double(1 << pass) / Double(1 << passes))
            let other = isCentred ? smeared.displaced(by: offsets * -1) : smeared
            smeared = try ((smeared.displaced(by: offsets) + other) * 0.5).kept()
        }
        return smeared
    }

    /// Brush strokes along the picture's forms: one band around 0, of deviation 1.
    func brushwork(along flow: Raster, width: Double, length: Double, seed: Int) throws(ImagingError) -> Raster {
        let strokes = try smeared(try grain(seed: seed, softness: width * unit), along: flow, length: length)
        return strokes * (1 / max(try strokes.deviation(), 0.000_1))
    }

    /// Dark lines where light falls off to one side: 255 where there is ink.
    ///
    /// - Parameters:
    ///   - light: One band of fractions from 0 to 255.
    ///   - width: The width of a line, in units.
    ///   - from: The contrast to the surroundings at which ink begins, 1 being from white to black.
    ///   - to: The contrast at which ink is full.
    func ink(_ light: Raster, width: Double, from: Double, to: Double) throws(ImagingError) -> Raster {
        let difference = try light.blurred(width * 1.8 * unit) - light.blurred(width * unit)
        return (difference * (1 / to)).curve { smoothstep($0, from / to, 1) }
    }
}
