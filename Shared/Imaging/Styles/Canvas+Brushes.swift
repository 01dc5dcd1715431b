internal import Foundation

/// Rises smoothly from 0 at one value to 1 at another.
func smoothstep(_ value: Double, _ from: Double, _ to: Double) -> Double {
    let share = min(max((value - from) / (to - from), 0), 1)
    return share * share * (3 - 2 * share)
}

extension Canvas {
    /// The picture in even patches with sharp edges, as a brush of that radius (in units) would leave it.
    ///
    /// A generalised Kuwahara filter in one convolution: every place gets the mean colour of those of its surroundings that
    /// are the most even, each weighing by the inverse fourth power of its variance.
    func patches(radius: Double, of source: VipsPicture? = nil) throws(ImagingError) -> VipsPicture {
        let source = source ?? picture
        let reach = max(1, Int((radius * unit).rounded()))
        let sigma = max(Double(reach) / 2, 0.6)
        let mean = try keep(try source.blurred(sigma))
        let light = try keep(try source.grey())
        let square = try (light * light).blurred(sigma)
        let centre = try mean.grey()
        let variance = try (square - centre * centre).applying("cast", ["format": .choice("ushort")])
        let weight = try keep(try variance.table(Self.evenness))
        let weighted = try keep(try VipsPicture.joined([try mean * weight, weight]))
        let sum = try keep(try weighted.convolved(Self.ring(reach)))
        return try keep(try (sum.band(0, count: 3) / sum.band(3)).asBytes())
    }

    /// The weight of a place, given the variance of its light.
    private static let evenness = (0..<4_096).map { Float(pow((Double($0) / 65_025 + 0.0004) * 400, -4)) }

    private static func ring(_ reach: Int) -> [[Double]] {
        var rows = Array(repeating: Array(repeating: 0.0, count: 2 * reach + 1), count: 2 * reach + 1)
        let diagonal = Int((Double(reach) * 0.7071).rounded())
        for (across, down) in [(0, 0), (reach, 0), (-reach, 0), (0, reach), (0, -reach)] { rows[reach + down][reach + across] = 1 }
        for across in [-diagonal, diagonal] {
            for down in [-diagonal, diagonal] { rows[reach + down][reach + across] = 1 }
        }
        return rows
    }

    /// Patches that are broad where there is little detail and fine where there is much, such as in a face.
    func paintedPatches(broad: Double, twice: Double? = nil, fine: Double, keeping: Double) throws(ImagingError) -> VipsPicture {
        var flat = try patches(radius: broad)
        if let twice { flat = try patches(radius: twice, of: flat) }
        return try keep(try flat.mixed(with: try patches(radius: fine), by: try detail().curve { $0 * keeping }))
    }

    /// The amount of detail: 255 where it is high, 0 where the picture is even.
    func detail() throws(ImagingError) -> VipsPicture {
        let light = try keep(try picture.grey())
        let difference = try (light - light.blurred(2 * unit)).applying("abs").asBytes()
        return try difference.blurred(4 * unit).curve { smoothstep($0, 0.03, 0.11) }
    }

    /// Light, stretched from black to white, and brightened or darkened so that half the picture is lighter than the middle.
    ///
    /// - Parameter darkening: The limit of darkening, as an exponent; 1 forbids it.
    func tone(_ light: VipsPicture, darkening: Double = 1.5) throws(ImagingError) -> VipsPicture {
        let (low, middle, high) = (try light.percentile(0.02), try light.percentile(0.5), try light.percentile(0.97))
        let span = max(high - low, 0.24)
        let balance = min(max((middle - low) / span, 0.02), 0.98)
        let exponent = min(max(log(0.5) / log(balance), 0.55), darkening)
        return try light.curve { pow(min(max(($0 - low) / span, 0), 1), exponent) }
    }

    /// The directions along which the picture changes least, as two bands of a unit vector: the directions of brush strokes.
    ///
    /// - Parameter smoothing: The radius over which directions are averaged, in units.
    func flow(smoothing: Double) throws(ImagingError) -> VipsPicture {
        let light = try keep(try picture.grey())
        let across = try light.convolved([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
        let down = try light.convolved([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
        let products = try VipsPicture.joined([try across * across, try down * down, try across * down])
        let tensor = try keep(try products.blurred(smoothing * unit))
        let difference = try tensor.band(0) - tensor.band(1)
        let mixed = try tensor.band(2)
        let length = try (difference * difference + mixed * mixed * 4).power(0.5) + 0.000_001
        let cosine = try keep(try difference / length)
        // Half the angle, by the half-angle formulas; the tangent is at right angles to the gradient.
        let right = try (cosine * 0.5 + 0.500_001).power(0.5)
        let below = try (cosine * -0.5 + 0.500_001).power(0.5)
        let sign = try VipsCall("relational_const", input: mixed, ["relational": .choice("less"), "c": .numbers([0])]).picture()
        let signed = try VipsCall(
            "ifthenelse", ["cond": .picture(sign), "in1": .picture(below), "in2": .picture(try below * -1)]
        ).picture()
        return try keep(try VipsPicture.joined([signed, right]))
    }

    /// A picture smeared along directions, over a length in units.
    ///
    /// - Parameter isCentred: Whether it is smeared in both directions, so that nothing is displaced.
    func smeared(
        _ picture: VipsPicture, along flow: VipsPicture, length: Double, isCentred: Bool = false
    ) throws(ImagingError) -> VipsPicture {
        // Each pass doubles the length: the mean of two places that already are means along the way.
        let passes = isCentred ? 2 : 4
        var smeared = picture
        for pass in 0..<passes {
            let step = length * unit * Double(1 << pass) / Double(1 << passes)
            let offsets = try keep(try flow * step)
            let ahead = try smeared.displaced(by: offsets, reach: step)
            let other = isCentred ? try smeared.displaced(by: try offsets * -1, reach: step) : smeared
            smeared = try keep(try (ahead + other) * 0.5)
        }
        return smeared
    }

    /// Brush strokes along the picture's forms: one band around 0, of deviation 1.
    func brushwork(along flow: VipsPicture, width: Double, length: Double, seed: Int) throws(ImagingError) -> VipsPicture {
        let bristles = try keep(try VipsPicture.grain(size, seed: seed, softness: width * unit))
        let strokes = try smeared(bristles, along: flow, length: length)
        return try keep(try strokes * (1 / max(strokes.deviation(), 0.000_1)))
    }

    /// Dark lines where light falls off to one side: 255 where there is ink.
    ///
    /// - Parameters:
    ///   - light: One band of 0 to 255.
    ///   - width: The width of a line, in units.
    ///   - from: The contrast to the surroundings at which ink begins, 1 being from white to black.
    ///   - to: The contrast at which ink is full.
    func ink(_ light: VipsPicture, width: Double, from: Double, to: Double) throws(ImagingError) -> VipsPicture {
        let precise = try keep(try light.applying("cast", ["format": .choice("float")]))
        let difference = try precise.blurred(width * 1.8 * unit) - precise.blurred(width * unit)
        return try difference.linear([1 / to], [0], asBytes: true).curve { smoothstep($0, from / to, 1) }
    }
}
