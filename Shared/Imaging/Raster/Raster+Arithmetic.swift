internal import CRaster

extension Raster {
    static func + (left: Raster, right: Raster) -> Raster { left.with(right, HG_ADD) }
    static func - (left: Raster, right: Raster) -> Raster { left.with(right, HG_SUBTRACT) }
    static func * (left: Raster, right: Raster) -> Raster { left.with(right, HG_MULTIPLY) }
    static func / (left: Raster, right: Raster) -> Raster { left.with(right, HG_DIVIDE) }
    static func + (left: Raster, right: Double) -> Raster { left.linear([1], [right]) }
    static func * (left: Raster, right: Double) -> Raster { left.linear([right], [0]) }

    /// This picture and a multiple of another one that has as many bands.
    func adding(_ other: Raster, times factor: Double) -> Raster {
        with(zip(bands, other.bands).map { Band(HG_ADD_SCALED, [$0, $1], a: factor) })
    }

    /// The larger of two values.
    func larger(_ other: Raster) -> Raster { with(other, HG_LARGER) }

    /// The smaller of two values.
    func smaller(_ other: Raster) -> Raster { with(other, HG_SMALLER) }

    func magnitude() -> Raster { each(HG_ABSOLUTE) }
    func squareRoot() -> Raster { each(HG_ROOT) }

    /// The cosine of angles in turns.
    func cosine() -> Raster { each(HG_COSINE) }

    /// One band: the length of the vector whose coordinates are the bands.
    func length() -> Raster {
        let squares = self * self
        return squares.bands.dropFirst().reduce(squares.band(0)) { $0 + with([$1]) }.squareRoot()
    }

    /// This value where the other is not negative, and its opposite elsewhere.
    func withSign(of other: Raster) -> Raster { with(bands.map { Band(HG_WITH_SIGN, [$0, $0, other.bands[0]]) }) }

    private func each(_ operation: hg_operation) -> Raster { with(bands.map { Band(operation, [$0]) }) }

    private func with(_ right: Raster, _ operation: hg_operation) -> Raster {
        let isBytes = operation == HG_LARGER || operation == HG_SMALLER
        return with(
            (0..<max(bands.count, right.bands.count)).map { index in
                let (one, two) = (bands[bands.count == 1 ? 0 : index], right.bands[right.bands.count == 1 ? 0 : index])
                return Band(operation, [one, two], isBytes: isBytes && one.isBytes && two.isBytes)
            })
    }

    /// Each band times a factor, plus an offset; a single factor and offset apply to all bands, and a single band has all of several.
    ///
    /// - Parameter asBytes: Rounds to levels of 0 to 255.
    func linear(_ factors: [Double], _ offsets: [Double], asBytes: Bool = false) -> Raster {
        let result = with(
            (0..<max(bands.count, factors.count)).map { index in
                Band(
                    HG_LINEAR, [bands[bands.count == 1 ? 0 : index]], a: factors[factors.count == 1 ? 0 : index],
                    b: offsets[offsets.count == 1 ? 0 : index])
            })
        return asBytes ? result.asBytes() : result
    }

    func asBytes() -> Raster { with(bands.map { $0.rounded() }) }

    /// Applies a tabulated function to each level; its input and output of 0 to 1 stand for levels of 0 to 255.
    func curve(_ function: (Double) -> Double) -> Raster {
        table((0...255).map { Float((min(max(function(Double($0) / 255), 0), 1) * 255).rounded()) }, isBytes: true)
    }

    /// Replaces each level of 0 to 255 by the value of a tabulated function of 0 to 1.
    func weights(_ function: (Double) -> Double) -> Raster { table((0...255).map { Float(function(Double($0) / 255)) }) }

    /// Replaces each number by the entry of a table that is nearest.
    func table(_ entries: [Float], isBytes: Bool = false) -> Raster {
        let table = LookupTable(entries)
        return with(bands.map { Band(HG_TABLE, [$0], table: table, isBytes: isBytes) })
    }

    /// This picture where a mask is 0, the other where it is 255, and a mixture between.
    func mixed(with other: Raster, by mask: Raster) -> Raster {
        with(zip(bands, other.bands).map { Band(HG_MIX, [$0, $1, mask.bands[0]]) })
    }

    /// This picture under a flat colour of three levels.
    func mixed(with colour: [Double], by mask: Raster) -> Raster {
        mixed(with: mask.linear(colour.map { _ in 0 }, colour), by: mask)
    }

    /// A number in each place.
    func filled(with number: Double) -> Raster { linear([0], [number]) }

    /// One band: the mean of all.
    func mean() -> Raster { bands.dropFirst().reduce(band(0)) { $0 + with([$1]) } * (1 / Double(bands.count)) }

    /// Colours moved away from grey by a factor; the values may leave 0 to 255.
    func saturated(_ factor: Double) -> Raster { self * factor + mean() * (1 - factor) }
}
