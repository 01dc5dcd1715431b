internal import Foundation

extension Canvas {
    /// Flat colour in five steps of light, shadows turned to violet, a glow around what is bright, and ink.
    func anime() throws(ImagingError) -> VipsPicture {
        let board = try reduced(to: 1_200)
        let flat = try board.paintedPatches(broad: 3.2, twice: 3.2, fine: 1.8, keeping: 0.35)
        let coloured = try board.keep(try board.celColours(flat))
        let glow = try coloured.grey().curve { ($0 - 0.72) * 3.5 }.blurred(16 * board.unit).curve { $0 * 0.35 }
        let lit = try enlarge(try coloured.mixed(with: [255, 255, 255], by: try board.keep(glow)))
        let light = try keep(try enlarge(try flat.grey()) * 0.55 + picture.grey() * 0.45)
        let lines = try ink(light, width: 1.25, from: 0.008, to: 0.030)
        return try lit.mixed(with: [41, 28, 51], by: try lines.curve { $0 * 0.92 })
    }

    private func celColours(_ flat: VipsPicture) throws(ImagingError) -> VipsPicture {
        let lab = try keep(try flat.applying("colourspace", ["space": .choice("lab")]))
        let steps = 5.0
        let light = try keep(
            try tone(try lab.band(0).linear([2.55], [0], asBytes: true), darkening: 0.95).curve { level in
                let lifted = level * 0.97 + 0.015
                let step = (lifted * steps).rounded(.down)
                let share = lifted * steps - step
                let stepped = (step + smoothstep(share, 0.28, 0.72)) / steps
                return pow(stepped * 0.70 + lifted * 0.30, 0.84)
            })
        let shadow = try light.weights { level in (1 - level) * (1 - level) }
        let colours = try lab.band(1, count: 2)
        let chroma = try ((colours * colours).band(0) + (colours * colours).band(1)).power(0.5)
        let gain = try (chroma * (1 / 150) + 1).power(-1) * 1.6
        let shifted = try colours * gain + VipsPicture.joined([try shadow * 5, try shadow * -13])
        return try VipsPicture.joined([try light.linear([0.96 / 2.55], [3]), shifted]).fromLab()
    }
}
