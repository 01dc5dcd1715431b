internal import Foundation

extension Canvas {
    /// Strokes of thick paint along the forms, their ridges lit from above left; finer and flatter where there is much detail.
    func oilPainting() throws(ImagingError) -> Raster {
        let board = try reduced(to: 1_200)
        let flow = try board.flow(smoothing: 7)
        let patches = try board.paintedPatches(broad: 4.5, fine: 2.0, keeping: 0.85)
        let smeared = try board.smeared(patches, along: flow, length: 7, isCentred: true)
        let strokes = try board.brushwork(along: flow, width: 2.6, length: 56, seed: 5).kept()
        let slope = try strokes.convolved([[-1, -1, 0], [-1, 0, 1], [0, 1, 1]]).kept()
        let calm = try board.detail().weights { 1 - 0.7 * $0 }
        let relief = slope * (8.2 / max(try slope.deviation(), 0.000_1)) * calm
        let streaks = strokes * calm * 0.065 + 1
        let paint = smeared.saturated(1.32).linear([1.06], [-5]) * streaks + relief
        return try sharpened(try enlarge(paint.asBytes()), width: max(unit, 0.5) * 1.2)
    }

    /// The contrast of edges raised, as wide as a sigma in pixels.
    private func sharpened(_ painting: Raster, width: Double) throws(ImagingError) -> Raster {
        let light = try painting.grey().weights { level in
            let share = level <= 0.04 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)
            return share > 0.008_856 ? 116 * cbrt(share) - 16 : share * 903.3
        }.kept()
        let difference = try light - light.blurred(width)
        // Small differences stay, so that grain is not raised; the table has a sixteenth of a step of lightness an entry.
        let raised = (difference * 16 + 1_024).table(
            (0...2_048).map { entry in
                let step = (Double(entry) - 1_024) / 16
                let excess = 3 * max(abs(step) - 2, 0)
                return Float(step > 0 ? min(excess, 10) : -min(excess, 20)) * 2.6
            })
        return painting + raised
    }
}
