extension Canvas {
    /// Strokes of thick paint along the forms, their ridges lit from above left; finer and flatter where there is much detail.
    func oilPainting() throws(ImagingError) -> VipsPicture {
        let board = try reduced(to: 1_200)
        let flow = try board.flow(smoothing: 7)
        let patches = try board.paintedPatches(broad: 4.5, fine: 2.0, keeping: 0.85)
        let smeared = try board.smeared(patches, along: flow, length: 7, isCentred: true)
        let strokes = try board.brushwork(along: flow, width: 2.6, length: 56, seed: 5)
        let slope = try board.keep(try strokes.convolved([[-1, -1, 0], [-1, 0, 1], [0, 1, 1]]))
        let calm = try board.detail().weights { 1 - 0.7 * $0 }
        let relief = try slope * (8.2 / max(slope.deviation(), 0.000_1)) * calm
        let streaks = try strokes * calm * 0.065 + 1
        let paint = try smeared.saturated(1.32).linear([1.06], [-5]) * streaks + relief
        let enlarged = try keep(try enlarge(try paint.asBytes()))
        return try enlarged.applying("sharpen", ["sigma": .number(max(unit, 0.5) * 1.2)])
    }
}
