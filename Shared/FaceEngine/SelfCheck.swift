#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Verifies at start that this machine computes the descriptors on which the thresholds were calibrated, and that it does so fast enough.
///
/// A wrong build or a faulty processor would otherwise appear only as people who are not recognised, or as a service that is ten times
/// slower. Each instruction set of the machine is checked, because templates computed with one are compared with faces computed with
/// another.
enum SelfCheck {
    /// Maximum deviation of any of the 128 numbers; instruction sets differ by 2e-6.
    static let maxDeviation: Float = 1e-4
    /// Minimum cosine with the golden descriptor where 8-bit products round; for photos it is 0.999 and more (docs/MODELCARD.md).
    static let minCosine: Float = 0.995
    /// Maximum processor time of one descriptor, in milliseconds. AVX-512 takes 5 or 11, AVX2 18, a processor without both 50.
    static let maxDescriptorMilliseconds = 200.0
    private static let attempts = 3

    /// Loads the networks, checks them on all instruction sets, and returns the networks for the fastest set; takes some 0.2 s.
    ///
    /// - Throws: ``FaceEngineError`` with `badModel` or `selfCheckFailed`.
    static func fastestNetworks(_ models: FaceModels) throws(FaceEngineError) -> FaceNetworks {
        for set in InstructionSet.available.dropLast() { try compare(FaceNetworks(models, for: set), set) }
        let networks = try FaceNetworks(models, for: .fastest)
        let milliseconds = try compare(networks, .fastest)
        guard milliseconds <= maxDescriptorMilliseconds else {
            throw FaceEngineError(
                .selfCheckFailed,
                "a descriptor takes \(Int(milliseconds)) ms of processor time instead of some 20: was CFaceNet built without optimisation?")
        }
        return networks
    }

    /// Compares the networks' descriptor of the test face with the golden one, and returns the milliseconds that it takes.
    @discardableResult
    private static func compare(_ networks: FaceNetworks, _ set: InstructionSet) throws(FaceEngineError) -> Double {
        var fastest = Double.infinity
        for _ in 0..<attempts {
            let start = processorMilliseconds()
            let descriptor = try networks.describe(testFace)
            fastest = min(fastest, processorMilliseconds() - start)
            try compare(descriptor, with: goldenDescriptor, computedWith: set)
        }
        return fastest
    }

    /// - Throws: ``FaceEngineError`` with `selfCheckFailed`.
    static func compare(
        _ descriptor: [Float], with golden: [Float], computedWith set: InstructionSet
    ) throws(FaceEngineError) {
        let deviation = set.isRounding ? 1 - cosine(descriptor, golden) : zip(descriptor, golden).map { abs($0 - $1) }.max() ?? .infinity
        // Written so that NaN fails.
        guard descriptor.count == golden.count, deviation <= (set.isRounding ? 1 - minCosine : maxDeviation),
            descriptor.allSatisfy(\.isFinite)
        else {
            throw FaceEngineError(
                .selfCheckFailed, "the descriptor of the test face is off by \(deviation) on \(set): wrong build or faulty processor")
        }
    }

    private static func cosine(_ one: [Float], _ other: [Float]) -> Float {
        func product(_ one: [Float], _ other: [Float]) -> Float { zip(one, other).reduce(0) { $0 + $1.0 * $1.1 } }
        return product(one, other) / (product(one, one) * product(other, other)).squareRoot()
    }

    /// A test picture of waves of three lengths, computed with integers only, so that it is the same on every machine.
    static var testFace: AlignedFace {
        let side = AlignedFace.side
        func wave(_ position: Int, _ length: Int) -> Int { abs(position % (2 * length) - length) * 255 / length }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(side * side * 3)
        for row in 0..<side {
            for column in 0..<side {
                pixels.append(UInt8(wave(row + column, 60)))
                pixels.append(UInt8(wave(row * 2 + column, 45)))
                pixels.append(UInt8((wave(column, 30) + wave(row, 75)) / 2))
            }
        }
        return AlignedFace(pixels: pixels)
    }

    /// Returns the processor time of this thread, so that a busy machine is not mistaken for a slow library.
    private static func processorMilliseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}
