internal import Foundation

extension Canvas {
    /// Two loud inks for each colour, printed as dots that grow with the dark, on cream paper under solid black.
    func popArt() throws(ImagingError) -> Raster {
        let board = try reduced(to: 1_100)
        let flat = try board.paintedPatches(broad: 4.5, twice: 4, fine: 2, keeping: 0.8)
        let lab = try flat.inLab().kept()
        let light = try board.tone(lab.band(0).linear([2.55], [0], asBytes: true)).kept()
        // Places darker than their surroundings become black too, or a face in full light would have no mouth.
        let local = try light.blurred(22 * board.unit) - light
        let black = try enlarge(light.curve { 1 - smoothstep($0, 0.19, 0.24) }.larger(local.curve { smoothstep($0, 0.20, 0.25) }))
        let tone = try enlarge(light)
        let inks = board.inks(lab)
        let dots = screen(period: 11, degrees: 28)
        let cover = (dots - tone.weights { 1.08 - 1.35 * (1 - $0) }).linear([255 / 0.12], [127.5], asBytes: true)
        var print = try enlarge(inks.tint).mixed(with: try enlarge(inks.full), by: cover)
        print = print.mixed(with: [255, 247, 224], by: tone.curve { smoothstep($0, 0.80, 0.86) })
        let contour = try (try enlarge(flat.grey()) * 0.7 + picture.grey() * 0.3).kept()
        let outline = try ink(contour, width: 1.5, from: 0.008, to: 0.030)
        return print.mixed(with: [18, 13, 33], by: black.larger(outline))
    }

    /// The full ink and the tint of each place, by its hue; places without a hue are printed in blue.
    private func inks(_ lab: Raster) -> (full: Raster, tint: Raster) {
        let colours = lab.band(1, count: 2)
        let chroma = colours.length()
        let isColoured = chroma.weights { smoothstep($0 * 255, 5, 24) }
        let hue = colours / (chroma + 2)
        let grey = isColoured * -1 + 1
        let loud = hue * isColoured * 90 + .joined([grey * 12, grey * -46])
        return (
            full: Raster.joined([grey * -12 + 58, loud]).fromLab(), tint: Raster.joined([grey.filled(with: 87), loud * 0.45]).fromLab()
        )
    }

    /// A halftone screen: waves from 0 to 1 whose contour lines are dots, in rows with a period in units.
    private func screen(period: Double, degrees: Double) -> Raster {
        let places = places()
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        let turn = 1 / (period * unit)
        func wave(_ across: Double, _ down: Double) -> Raster {
            (places.band(0) * (across * turn) + places.band(1) * (down * turn)).cosine()
        }
        return (wave(cosine, sine) + wave(-sine, cosine)) * 0.25 + 0.5
    }
}
