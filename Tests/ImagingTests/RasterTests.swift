import CRaster
import Testing

/// Tests the arithmetic of styles on both of its paths, against the same written plainly.
@Suite(.serialized) struct RasterTests {
    /// Numbers of a plane, with a width that is no multiple of a chunk or a vector.
    private static let (width, height) = (HG_RASTER_CHUNK + 37, 21)
    private static let levels = (0..<width * height).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / width * 31) }
    private static let numbers = levels.map { Float($0) * 0.37 - 20 }

    private static func plane(_ values: UnsafeMutableRawPointer, _ width: Int, _ height: Int, isBytes: Bool) -> hg_plane {
        hg_plane(values: values, width: Int32(width), height: Int32(height), pixel: 1, row: width, is_bytes: isBytes ? 1 : 0)
    }

    /// Runs a step whose operands are the numbers, the levels and a mask of levels, and returns its result.
    private static func run(_ operation: hg_operation, table: [Float] = [], change: (inout hg_step) -> Void = { _ in }) -> [Float] {
        var (numbers, levels, result) = (numbers, levels, [Float](repeating: -1, count: width * height))
        return table.withUnsafeBufferPointer { table in
            var loads = [hg_step(), hg_step()]
            var step = hg_step()
            (step.operation, step.out, step.left, step.right, step.mask) = (operation, 0, 0, 1, 1)
            (step.table, step.last) = (table.baseAddress, Int32(table.count - 1))
            loads[0].plane = plane(&numbers, width, height, isBytes: false)
            (loads[1].out, loads[1].plane) = (1, plane(&levels, width, height, isBytes: true))
            step.plane = loads[1].plane
            change(&step)
            var store = hg_step()
            (store.operation, store.plane) = (HG_STORE, plane(&result, width, height, isBytes: false))
            hg_raster_run(loads + [step, store], 4, Int32(width), 0, Int32(height))
            return result
        }
    }

    private static func expect(_ result: [Float], within limit: Float = 0.001, _ expected: (Int) -> Float) {
        let worst = result.indices.map { abs(result[$0] - expected($0)) }.max() ?? .infinity
        #expect(worst <= limit)
    }

    /// The level at a place; edges are repeated.
    private static func level(_ x: Int, _ y: Int) -> Float {
        Float(levels[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)])
    }

    @Test(arguments: [Int32(0), 1])
    func `operations compute what they are named after`(isPortable: Int32) {
        hg_raster_use_portable(isPortable)
        defer { hg_raster_use_portable(0) }
        let (numbers, levels) = (Self.numbers, Self.levels.map { Float($0) })
        Self.expect(Self.run(HG_ADD)) { numbers[$0] + levels[$0] }
        Self.expect(Self.run(HG_SUBTRACT)) { numbers[$0] - levels[$0] }
        Self.expect(Self.run(HG_MULTIPLY), within: 0.01) { numbers[$0] * levels[$0] }
        Self.expect(Self.run(HG_LARGER)) { max(numbers[$0], levels[$0]) }
        Self.expect(Self.run(HG_SMALLER)) { min(numbers[$0], levels[$0]) }
        Self.expect(Self.run(HG_MIX)) { numbers[$0] + (levels[$0] - numbers[$0]) * levels[$0] / 255 }
        Self.expect(Self.run(HG_ABSOLUTE)) { abs(numbers[$0]) }
        Self.expect(Self.run(HG_ROOT)) { max(numbers[$0], 0).squareRoot() }
        Self.expect(Self.run(HG_ROUND)) { (max(numbers[$0], 0) + 0.5).rounded(.down) }
        Self.expect(Self.run(HG_LINEAR) { ($0.a, $0.b) = (2, 3) }) { numbers[$0] * 2 + 3 }
        Self.expect(Self.run(HG_ADD_SCALED) { $0.a = 0.5 }) { numbers[$0] + levels[$0] * 0.5 }
        Self.expect(Self.run(HG_WITH_SIGN) { ($0.left, $0.mask) = (1, 0) }) { numbers[$0] < 0 ? -levels[$0] : levels[$0] }
        let table = (0...40).map { Float($0 * $0) }
        Self.expect(Self.run(HG_TABLE, table: table)) { table[min(max(Int((numbers[$0] + 0.5).rounded(.down)), 0), 40)] }
        Self.expect(Self.run(HG_CUBE_ROOT) { $0.left = 1 }.map { $0 * $0 * $0 }) { levels[$0] }
        Self.expect(Self.run(HG_COSINE)) { Self.cosine(numbers[$0]) }
    }

    /// The cosine of turns, by halving the angle and squaring the complex number again.
    private static func cosine(_ turns: Float) -> Float {
        let angle = Double(turns - turns.rounded()) * 2 * .pi / 1_024
        var (real, imaginary) = (1 - angle * angle / 2, angle)
        for _ in 0..<10 { (real, imaginary) = (real * real - imaginary * imaginary, 2 * real * imaginary) }
        return Float(real)
    }

    @Test(arguments: [Int32(0), 1])
    func `places are read displaced, and edges are repeated`(isPortable: Int32) {
        hg_raster_use_portable(isPortable)
        defer { hg_raster_use_portable(0) }
        for (dx, dy) in [(0, 0), (-3, 2), (5, -4), (400, 30), (-400, -30)] {
            Self.expect(Self.run(HG_LOAD) { ($0.dx, $0.dy) = (Int32(dx), Int32(dy)) }) {
                Self.level($0 % Self.width + dx, $0 / Self.width + dy)
            }
        }
        // By as many pixels as the numbers say, to the right and down.
        Self.expect(Self.run(HG_DISPLACE) { ($0.left, $0.right) = (0, 0) }, within: 0.05) { index in
            let across = min(max(Float(index % Self.width) + Self.numbers[index], 0), Float(Self.width - 1))
            let down = min(max(Float(index / Self.width) + Self.numbers[index], 0), Float(Self.height - 1))
            let (x, y) = (Int(across), Int(down))
            let upper = Self.level(x, y) + (Self.level(x + 1, y) - Self.level(x, y)) * (across - Float(x))
            let lower = Self.level(x, y + 1) + (Self.level(x + 1, y + 1) - Self.level(x, y + 1)) * (across - Float(x))
            return upper + (lower - upper) * (down - Float(y))
        }
        Self.expect(Self.run(HG_TILE) { ($0.plane.width, $0.plane.height) = (10, 4) }) {
            Self.level($0 % Self.width % 10, $0 / Self.width % 4)
        }
    }

    @Test(arguments: [Int32(0), 1])
    func `an even plane stays even when it is enlarged, blurred and shrunk`(isPortable: Int32) {
        hg_raster_use_portable(isPortable)
        defer { hg_raster_use_portable(0) }
        var even = [UInt8](repeating: 201, count: 12 * 9)
        let small = Self.plane(&even, 12, 9, isBytes: true)
        let enlarged = Self.run(HG_ENLARGE) { ($0.plane, $0.a, $0.b) = (small, 12 / Float(Self.width), 9 / Float(Self.height)) }
        Self.expect(enlarged) { _ in 201 }
        var blurred = [UInt8](repeating: 0, count: 12 * 9)
        #expect(hg_raster_blur(small, Self.plane(&blurred, 12, 9, isBytes: true), [0.1, 0.2, 0.4, 0.2, 0.1], 5) == 1)
        #expect(blurred == even)
        var shrunk = [Float](repeating: 0, count: 3 * 3)
        #expect(hg_raster_shrink(small, Self.plane(&shrunk, 3, 3, isBytes: false), 4) == 1)
        Self.expect(shrunk) { _ in 201 }
    }

    @Test(arguments: [Int32(0), 1])
    func `a blur is the weighted mean of the surroundings`(isPortable: Int32) {
        hg_raster_use_portable(isPortable)
        defer { hg_raster_use_portable(0) }
        var levels = Self.levels
        var blurred = [Float](repeating: 0, count: levels.count)
        let weights: [Float] = [0.1, 0.2, 0.4, 0.2, 0.1]
        let plane = Self.plane(&levels, Self.width, Self.height, isBytes: true)
        #expect(hg_raster_blur(plane, Self.plane(&blurred, Self.width, Self.height, isBytes: false), weights, 5) == 1)
        Self.expect(blurred, within: 0.01) { index in
            var sum: Float = 0
            for down in -2...2 {
                for across in -2...2 {
                    sum += Self.level(index % Self.width + across, index / Self.width + down) * weights[down + 2] * weights[across + 2]
                }
            }
            return sum
        }
    }
}
