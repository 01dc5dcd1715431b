internal import Foundation

extension Canvas {
    /// Two loud inks for each colour, printed as dots that grow with the dark, on cream paper under solid black.
    func popArt() throws(ImagingError) -> VipsPicture {
        let board = try reduced(to: 1_100)
        let flat = try board.paintedPatches(broad: 4.5, twice: 4, fine: 2, keeping: 0.8)
        let lab = try board.keep(try flat.applying("colourspace", ["space": .choice("lab")]))
        let light = try board.keep(try board.tone(try lab.band(0).linear([2.55], [0], asBytes: true)))
        // Places darker than their surroundings become black too, or a face in full light would have no mouth.
        let local = try (light.blurred(22 * board.unit) - light).linear([1], [0], asBytes: true)
        let black = try enlarge(
            try light.curve { 1 - smoothstep($0, 0.19, 0.24) }.larger(try local.curve { smoothstep($0, 0.20, 0.25) }))
        let tone = try keep(try enlarge(light))
        let inks = try board.inks(lab)
        let dots = try screen(period: 11, degrees: 28)
        let cover = try (dots - tone.weights { 1.08 - 1.35 * (1 - $0) }).linear([255 / 0.12], [127.5], asBytes: true)
        var print = try enlarge(inks.tint).mixed(with: try enlarge(inks.full), by: cover)
        print = try print.mixed(with: [255, 247, 224], by: try tone.curve { smoothstep($0, 0.80, 0.86) })
        let contour = try keep(try enlarge(try flat.grey()) * 0.7 + picture.grey() * 0.3)
        let outline = try ink(contour, width: 1.5, from: 0.008, to: 0.030)
        return try print.mixed(with: [18, 13, 33], by: try black.larger(outline))
    }

    /// The full ink and the tint of each place, by its hue; places without a hue are printed in blue.
    private func inks(_ lab: VipsPicture) throws(ImagingError) -> (full: VipsPicture, tint: VipsPicture) {
        let colours = try lab.band(1, count: 2)
        let chroma = try keep(try ((colours * colours).band(0) + (colours * colours).band(1)).power(0.5))
        let isColoured = try keep(try chroma.asBytes().weights { smoothstep($0 * 255, 5, 24) })
        let hue = try colours / (chroma + 2)
        let grey = try isColoured * -1 + 1
        let loud = try keep(try hue * isColoured * 90 + VipsPicture.joined([try grey * 12, try grey * -46]))
        return (
            full: try VipsPicture.joined([try grey * -12 + 58, loud]).fromLab(),
            tint: try VipsPicture.joined([try grey * 0 + 87, try loud * 0.45]).fromLab()
        )
    }

    /// A halftone screen: waves from 0 to 1 whose contour lines are dots, in rows with a period in units.
    private func screen(period: Double, degrees: Double) throws(ImagingError) -> VipsPicture {
        let places = try VipsPicture.places(size)
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        let turn = 360 / (period * unit)
        func wave(_ across: Double, _ down: Double) throws(ImagingError) -> VipsPicture {
            let phase = try places.applying("recomb", ["m": .picture(try .matrix([[across * turn, down * turn]]))])
            return try phase.applying("math", ["math": .choice("cos")])
        }
        return try (wave(cosine, sine) + wave(-sine, cosine)) * 0.25 + 0.5
    }
}
