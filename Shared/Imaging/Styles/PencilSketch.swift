internal import Foundation

extension Canvas {
    /// Graphite on ivory paper: contours from where light changes, hatching in two directions and along the forms.
    func pencilSketch() throws(ImagingError) -> Raster {
        let light = try picture.grey().kept()
        let contours = try contour(light, width: 7, darkness: 20, from: 0.02, to: 0.38) * 0.92
        let lines = try contours + contour(light, width: 1.5, darkness: 24, from: 0.035, to: 0.30) * 1.38
        let dark = try tone(try light.blurred(0.8 * unit)).curve { 1 - $0 }
        let small = try reduced(to: 900)
        let form = try enlarge(try small.brushwork(along: try small.flow(smoothing: 4), width: 0.6, length: 34, seed: 3))
        let first = try hatching(rising: true, seed: 5) * 0.26 + form * 0.13 + 0.60
        let second = try hatching(rising: false, seed: 7) * 0.24 + form * 0.12 + 0.60
        let third = form * 0.15 + 0.8
        var graphite = first * dark.weights { smoothstep($0, 0.12, 0.85) * 0.68 } + lines
        graphite = graphite + second * dark.weights { smoothstep($0, 0.52, 1) * 0.85 }
        graphite = graphite + third * dark.weights { smoothstep($0, 0.74, 1) * 0.77 }
        let grain = try grain(seed: 11, softness: 0.8 * max(unit, 0.8))
        // Paper shines through the layers of graphite by an exponential law, which is tabulated.
        let layers = graphite * (grain * 0.9 + 1) * 64
        let shine = layers.weights { exp(-0.95 * $0 * 255 / 64) * 0.95 + 0.03 } + grain * 0.012
        return shine.linear([250, 248, 241], [0, 0, 0])
    }

    /// The contrast of each place to its brighter surroundings of a width in units, 0 to 1.
    ///
    /// - Parameter darkness: Levels that are added to both, so that noise in shadows makes no contour.
    private func contour(
        _ light: Raster, width: Double, darkness: Double, from: Double, to: Double
    ) throws(ImagingError) -> Raster {
        let share = try (light + darkness) / (light.blurred(width * unit) + darkness)
        return share.linear([-255], [255]).weights { smoothstep($0, from, to) }
    }

    /// Parallel strokes at 45 degrees: one band around 0, of deviation 1.
    private func hatching(rising: Bool, seed: Int) throws(ImagingError) -> Raster {
        let length = max(7, Int(24 * unit)) | 1
        let line = (0..<length).map { row in (0..<length).map { $0 == (rising ? length - 1 - row : row) ? 1 / Double(length) : 0 } }
        return try grain(seed: seed, softness: 0.45 * unit, reach: length) { dots throws(ImagingError) in
            let strokes = try dots.convolved(line).kept()
            return strokes * (1 / max(try strokes.deviation(), 0.000_1))
        }
    }
}
