extension Canvas {
    /// A print of decades ago: soft lights, faded blacks, warm paper, dark corners, light that leaked in, and grain.
    func vintage() throws(ImagingError) -> Raster {
        let small = try reduced(to: 500)
        let halo = try enlarge(try small.picture.blurred(9 * small.unit))
        let soft = picture * (0.86 * 0.72) + halo * (0.14 * 0.72)
        let light = picture.grey()
        // A share of the light in place of the colour fades it; then each ink has its own curve.
        let curved = (soft + light * 0.28).curve { $0 * 0.55 + smoothstep($0, 0, 1) * 0.45 }
        let toned = curved.linear([0.816, 0.752, 0.540], [33.8, 24.0, 26.4])
        let lens = try enlarge(small.lens())
        let leak = lens.band(1) * 0.26
        let leaked = toned * (lens.band(0) * (1.0 / 255)) + .joined([leak, leak * 0.45, leak * 0.12])
        let grain = try grain(seed: 77, softness: 0.55 * max(unit, 1))
        return leaked + grain * light.linear([-4.5 / 255], [9])
    }

    /// Two bands of 0 to 255: the light that reaches the corners, and the light that leaks in from the right.
    private func lens() -> Raster {
        let places = places().linear([2 / Double(size.width), 2 / Double(size.height)], [-1, -1])
        let squares = places * places
        let corners = (squares.band(0) + squares.band(1)) * 100
        let fromRight = places.linear([1, 1], [-1.05, 0.55])
        let distance = fromRight * fromRight
        let leak = (distance.band(0) * 1.6 + distance.band(1) * 0.5).linear([-255], [255])
        return .joined([
            corners.curve { 1 - 0.48 * smoothstep($0 * 2.55, 0.45, 2.1) }, leak.curve { smoothstep($0, 0, 1) },
        ])
    }
}
