extension Canvas {
    /// A print of decades ago: soft lights, faded blacks, warm paper, dark corners, light that leaked in, and grain.
    func vintage() throws(ImagingError) -> VipsPicture {
        let small = try reduced(to: 500)
        let halo = try enlarge(try small.picture.blurred(9 * small.unit))
        let soft = try picture * (0.86 * 0.72) + halo * (0.14 * 0.72)
        let light = try keep(try picture.grey())
        // A share of the light in place of the colour fades it; then each ink has its own curve.
        let faded = try keep(try (soft + light * 0.28).asBytes())
        let curved = try faded.curve { $0 * 0.55 + smoothstep($0, 0, 1) * 0.45 }
        let toned = try curved.linear([0.816, 0.752, 0.540], [33.8, 24.0, 26.4], asBytes: true)
        let lens = try keep(try enlarge(try small.lens()))
        let shaded = try toned * lens.band(0).weights { $0 }
        let leak = try lens.band(1).table((0...255).map { Float($0) * 0.26 })
        let leaked = try shaded + VipsPicture.joined([leak, try leak * 0.45, try leak * 0.12])
        let grain = try VipsPicture.grain(size, seed: 77, softness: 0.55 * max(unit, 1))
        let grained = try leaked + grain * light.weights { 1 - 0.5 * $0 } * 9
        return try grained.asBytes()
    }

    /// Two bands of 0 to 255: the light that reaches the corners, and the light that leaks in from the right.
    private func lens() throws(ImagingError) -> VipsPicture {
        let half = [Double(size.width) / 2, Double(size.height) / 2]
        let places = try keep(try VipsPicture.places(size).linear(half.map { 1 / $0 }, [-1, -1]))
        let squared = try places * places
        let corners = try (squared.band(0) + squared.band(1)).linear([100], [0], asBytes: true)
        let fromRight = try places.linear([1, 1], [-1.05, 0.55])
        let distance = try fromRight * fromRight
        let leak = try (distance.band(0) * 1.6 + distance.band(1) * 0.5).linear([-255], [255], asBytes: true)
        return try VipsPicture.joined([
            try corners.curve { 1 - 0.48 * smoothstep($0 * 2.55, 0.45, 2.1) }, try leak.curve { smoothstep($0, 0, 1) },
        ])
    }
}
