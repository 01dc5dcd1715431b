internal import Foundation

extension Canvas {
    /// Washes that pool at their edges and gather in clouds, on rough paper whose rim stays white.
    func watercolour() throws(ImagingError) -> Raster {
        let board = try reduced(to: 1_200)
        let flat = try board.paintedPatches(broad: 5, twice: 3.5, fine: 2.2, keeping: 0.75)
        let drawn = try flat.displaced(by: try board.tremble()).asBytes().kept()
        let washes = try board.washes(drawn)
        let rim = try distanceToRim()
        // Pigment gathers along the rim before the paper begins.
        let pooled = try enlarge(washes) * rim.weights { 0.72 + 0.28 * smoothstep($0 * 40, 14, 30) }
        let edge = rim.curve { 1 - smoothstep($0 * 40, 14, 19) }
        let painted = pooled.mixed(with: [251, 251, 251], by: edge)
        let relief = try grain(seed: 21, softness: 1.1 * unit, reach: 1) { paper throws(ImagingError) in
            paper.convolved([[-1, -1, 0], [-1, 0, 1], [0, 1, 1]]) * 5.6
        }
        return (painted + relief).linear([0.992, 0.984, 0.961], [0, 0, 0])
    }

    /// The displacement by an unsteady hand, as two bands in pixels.
    private func tremble() throws(ImagingError) -> Raster {
        let slow = try Raster.joined([clouds(cell: 30 * unit, seed: 1), clouds(cell: 30 * unit, seed: 2)])
        let quick = try Raster.joined([clouds(cell: 9 * unit, seed: 5), clouds(cell: 9 * unit, seed: 6)])
        return slow * (2.6 * unit) + quick * unit
    }

    /// Light, strong colours, denser at the edges of a wash, in clouds and in the hollows of the paper.
    private func washes(_ flat: Raster) throws(ImagingError) -> Raster {
        let edges = try (flat.blurred(1.2 * unit) - flat.blurred(4 * unit)).magnitude().mean()
        let clouds =
            try clouds(cell: 170 * unit, seed: 8) * 0.33 + clouds(cell: 60 * unit, seed: 9) * 0.165
            + clouds(cell: 22 * unit, seed: 10) * 0.11
        let grain = try grain(seed: 12, softness: 0.8) * 0.14
        let density = edges.weights { smoothstep($0, 0.008, 0.10) * 1.3 } + clouds + grain
        let light = flat.curve { pow($0, 0.90) }
        let colour = light.saturated(1.6).linear([0.89], [27], asBytes: true)
        // More pigment moves a colour from itself towards its square.
        let loss = colour.weights { level in 255 * level * (1 - level) }
        return (colour - loss * density).asBytes()
    }

    /// The distance of a place from the picture's edge, with noise: 255 / 40 levels per unit.
    private func distanceToRim() throws(ImagingError) -> Raster {
        let board = try reduced(to: 1_200)
        let places = board.places()
        let centre = [Double(board.size.width) / 2, Double(board.size.height) / 2]
        let inside = places.linear([1, 1], centre.map { -$0 }).magnitude().linear([-1, -1], centre)
        let nearest = inside.band(0).smaller(inside.band(1))
        let rough =
            try board.clouds(cell: 45 * board.unit, seed: 31) * (16 * board.unit)
            + board.clouds(cell: 12 * board.unit, seed: 32) * (7 * board.unit)
        return try enlarge((nearest + rough).linear([255 / (40 * board.unit)], [0], asBytes: true))
    }
}
