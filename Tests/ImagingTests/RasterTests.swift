import CRaster
import Testing

/// Tests the arithmetic of styles on both of its paths, against the same written plainly.
@Suite(.serialized) struct RasterTests {
    /// Numbers of a plane, with a width that is no multiple of a chunk or a vector.
    private static let (width, height) = (HG_RASTER_CHUNK + 37, 21)
    private static let levels = (0..<width * height).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / width * 31) }
    private static let numbers = levels.map { Float($0) * 0.37 - 20 }

    /// Numbers at an address that does not change, which a plane names.
    private final class Memory<Number> {
        private let numbers: UnsafeMutableBufferPointer<Number>
        let plane: hg_plane

        init(_ values: [Number], _ width: Int = RasterTests.width, _ height: Int = RasterTests.height) {
            numbers = .allocate(capacity: values.count)
            _ = numbers.initialize(from: values)
            plane = hg_plane(
                values: numbers.baseAddress, width: Int32(width), height: Int32(height), pixel: 1, row: width,
                is_bytes: Number.self == UInt8.self ? 1 : 0)
        }

        deinit { numbers.deallocate() }

        var values: [Number] { Array(numbers) }
    }

    /// Runs a step whose operands are the numbers, the levels and a mask of levels, and returns its result.
    private static func run(_ operation: hg_operation, table: [Float] = [], change: (inout hg_step) -> Void = { _ in }) -> [Float] {
        let (numbers, levels, table) = (Memory(numbers), Memory(levels), Memory(table))
        let result = Memory([Float](repeating: -1, count: width * height))
        var loads = [hg_step(), hg_step()]
        var step = hg_step()
        (step.operation, step.out, step.left, step.right, step.mask) = (operation, 0, 0, 1, 1)
        (step.table, step.last) = (UnsafePointer(table.plane.values?.assumingMemoryBound(to: Float.self)), Int32(table.values.count - 1))
        loads[0].plane = numbers.plane
        (loads[1].out, loads[1].plane) = (1, levels.plane)
        step.plane = levels.plane
        change(&step)
        var store = hg_step()
        (store.operation, store.plane) = (HG_STORE, result.plane)
        withExtendedLifetime((numbers, levels, table)) {
            hg_raster_run(loads + [step, store], 4, Int32(width), 0, Int32(height))
        }
        return result.values
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
    func `an enlargement is linear between the pixels`(isPortable: Int32) {
        hg_raster_use_portable(isPortable)
        defer { hg_raster_use_portable(0) }
        let (width, height) = (12, 9)
        let small = Memory((0..<width * height).map { UInt8($0 * $0 % 251) }, width, height)
        let (a, b) = (Float(width) / Float(Self.width), Float(height) / Float(Self.height))
        let enlarged = withExtendedLifetime(small) { Self.run(HG_ENLARGE) { ($0.plane, $0.a, $0.b) = (small.plane, a, b) } }
        let levels = small.values
        Self.expect(enlarged, within: 0.01) { index in
            let across = min(max((Float(index % Self.width) + 0.5) * a - 0.5, 0), Float(width - 1))
            let down = min(max((Float(index / Self.width) + 0.5) * b - 0.5, 0), Float(height - 1))
            func row(_ y: Int) -> Float {
                let (x, line) = (Int(across), min(y, height - 1) * width)
                let left = Float(levels[line + x])
                return left + (Float(levels[line + min(x + 1, width - 1)]) - left) * (across - Float(x))
            }
            return row(Int(down)) + (row(Int(down) + 1) - row(Int(down))) * (down - down.rounded(.down))
        }
    }

    @Test(arguments: [Int32(0), 1])
    func `a reduction is the mean of squares, whose edges are repeated`(isPortable: Int32) {
        hg_raster_use_portable(isPortable)
        defer { hg_raster_use_portable(0) }
        let factor = 4
        let (width, height) = ((Self.width + factor - 1) / factor, (Self.height + factor - 1) / factor)
        let (levels, small) = (Memory(Self.levels), Memory([Float](repeating: 0, count: width * height), width, height))
        let hasMemory = withExtendedLifetime(levels) { hg_raster_shrink(levels.plane, small.plane, Int32(factor)) }
        #expect(hasMemory == 1)
        Self.expect(small.values, within: 0.01) { index in
            var sum: Float = 0
            for down in 0..<factor {
                for across in 0..<factor { sum += Self.level(index % width * factor + across, index / width * factor + down) }
            }
            return sum / Float(factor * factor)
        }
    }

    @Test(arguments: [Int32(0), 1])
    func `a blur is the weighted mean of the surroundings, rounded for bytes`(isPortable: Int32) {
        hg_raster_use_portable(isPortable)
        defer { hg_raster_use_portable(0) }
        let weights: [Float] = [0.1, 0.2, 0.4, 0.2, 0.1]
        let levels = Memory(Self.levels)
        let (exact, rounded) = (Memory([Float](repeating: 0, count: Self.levels.count)), Memory(Self.levels.map { _ in UInt8(0) }))
        for plane in [exact.plane, rounded.plane] {
            let hasMemory = withExtendedLifetime((levels, exact, rounded)) { hg_raster_blur(levels.plane, plane, weights, 5) }
            #expect(hasMemory == 1)
        }
        func mean(_ index: Int) -> Float {
            var sum: Float = 0
            for down in -2...2 {
                for across in -2...2 {
                    sum += Self.level(index % Self.width + across, index / Self.width + down) * weights[down + 2] * weights[across + 2]
                }
            }
            return sum
        }
        Self.expect(exact.values, within: 0.01, mean)
        Self.expect(rounded.values.map { Float($0) }, within: 0.51, mean)
    }

    @Test func `levels are counted, and the deviation is that of a sample`() {
        let (levels, numbers) = (Memory(Self.levels), Memory(Self.numbers))
        var counts = [Int](repeating: 7, count: 256)
        withExtendedLifetime(levels) { hg_raster_histogram(levels.plane, &counts) }
        #expect(counts == (0...255).map { level in Self.levels.count { $0 == level } })
        let deviation = withExtendedLifetime(numbers) { hg_raster_deviation(numbers.plane) }
        let mean = Self.numbers.reduce(0) { $0 + Double($1) } / Double(Self.numbers.count)
        let squares = Self.numbers.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        #expect(abs(deviation - (squares / Double(Self.numbers.count - 1)).squareRoot()) < 0.001)
    }
}
