internal import CRaster
internal import Foundation

extension Raster {
    /// Light alone: one band of 0 to 255.
    func grey() -> Raster {
        let linear = table(Self.linearLight)
        let light = linear.band(0) * 0.2 + linear.band(1) * 0.7 + linear.band(2) * 0.1
        return (light * Double(Self.levels.count - 1)).table(Self.levels, isBytes: true)
    }

    /// Converts levels of sRGB to CIE Lab, with a lightness of 0 to 100.
    func inLab() -> Raster {
        let linear = table(Self.linearLight)
        let places = Self.toXYZ.map { row in Self.share(linear, row, white: 1).cubeRoot() }
        return .joined([
            places[1].linear([116], [-16]), (places[0] - places[1]) * 500, (places[1] - places[2]) * 200,
        ])
    }

    /// Converts CIE Lab to levels of sRGB.
    func fromLab() -> Raster {
        let light = band(0).linear([1 / 116], [16.0 / 116])
        let places = Raster.joined([light + band(1) * (1.0 / 500), light, light - band(2) * (1.0 / 200)])
        // Near black the curve is a line.
        let curved = places.larger(places.filled(with: 0.206_893))
        let shares = curved * curved * curved + places.smaller(places.filled(with: 0.206_893)).linear([1 / 7.787], [-0.206_893 / 7.787])
        return .joined(Self.toRGB.map { row in Self.share(shares, row, white: Double(Self.levels.count - 1)) })
            .table(Self.levels, isBytes: true)
    }

    private func cubeRoot() -> Raster {
        let roots = with(bands.map { Band(HG_CUBE_ROOT, [$0]) })
        // Near black the curve is a line.
        return roots.larger(linear([7.787], [16.0 / 116]).smaller(filled(with: 0.206_893)))
    }

    private static func share(_ picture: Raster, _ row: [Double], white: Double) -> Raster {
        picture.band(0) * (row[0] * white) + picture.band(1) * (row[1] * white) + picture.band(2) * (row[2] * white)
    }

    /// Linear light, 0 to 1, by level of sRGB.
    private static let linearLight = (0...255).map { level in
        let value = Double(level) / 255
        return Float(value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
    }

    /// Levels of sRGB by linear light, 4,095 being 1.
    private static let levels = (0...4_095).map { step in
        let light = Double(step) / 4_095
        return Float(((light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055) * 255).rounded())
    }

    /// Linear RGB to XYZ, as shares of the values of white (D65).
    private static let toXYZ = [
        [0.4124 / 0.95047, 0.3576 / 0.95047, 0.1805 / 0.95047], [0.2126, 0.7152, 0.0722],
        [0.0193 / 1.08883, 0.1192 / 1.08883, 0.9505 / 1.08883],
    ]
    private static let toRGB = [
        [3.2406 * 0.95047, -1.5372, -0.4986 * 1.08883], [-0.9689 * 0.95047, 1.8758, 0.0415 * 1.08883],
        [0.0557 * 0.95047, -0.2040, 1.0570 * 1.08883],
    ]
}
