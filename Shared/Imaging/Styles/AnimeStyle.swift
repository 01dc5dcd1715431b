internal import Foundation

extension Canvas {
    /// Flat colour in five steps of light, shadows turned to violet, a glow around bright areas, and ink.
    func anime() throws(ImagingError) -> Raster {
        let board = try reduced(to: 1_200)
        let flat = try board.paintedPatches(broad: 3.2, twice: 3.2, fine: 1.8, keeping: 0.35)
        let coloured = try board.celColours(flat).kept()
        let glow = try coloured.grey().curve { ($0 - 0.72) * 3.5 }.blurred(16 * board.unit).curve { $0 * 0.35 }
        let lit = try enlarge(coloured.mixed(with: [255, 255, 255], by: glow).asBytes())
        let light = try (try enlarge(flat.grey()) * 0.55 + picture.grey() * 0.45).kept()
        let lines = try ink(light, width: 1.25, from: 0.008, to: 0.030)
        return lit.mixed(with: [41, 28, 51], by: lines.curve { $0 * 0.92 })
    }

    private func celColours(_ flat: Raster) throws(ImagingError) -> Raster {
        let lab = try flat.inLab().kept()
        let steps = 5.0
        let light = try tone(lab.band(0).linear([2.55], [0], asBytes: true), darkening: 0.95).curve { level in
            let lifted = level * 0.97 + 0.015
            let step = (lifted * steps).rounded(.down)
            let share = lifted * steps - step
            let stepped = (step + smoothstep(share, 0.28, 0.72)) / steps
            return pow(stepped * 0.70 + lifted * 0.30, 0.84)
        }
        let shadow = light.weights { level in (1 - level) * (1 - level) }
        let colours = lab.band(1, count: 2)
        let gain = colours.length() * (1 / 150) + 1
        let shifted = colours * 1.6 / gain + .joined([shadow * 5, shadow * -13])
        return Raster.joined([light.linear([0.96 / 2.55], [3]), shifted]).fromLab()
    }
}
