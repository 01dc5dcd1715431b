internal import CDlib

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Verifies at start that this machine computes the descriptors on which the thresholds were calibrated, and fast enough.
///
/// A wrong library, model or build would otherwise appear only as people who are not recognised, or as a service that is
/// ten times slower.
enum SelfCheck {
    /// Maximum deviation of any of the 128 numbers; processors differ in the last bits.
    static let maxDeviation: Float = 1e-4
    /// Maximum processor time of one descriptor, in milliseconds. OpenBLAS takes 12, the reference BLAS 130.
    static let maxDescriptorMilliseconds = 70.0
    private static let attempts = 3

    /// Runs the check; takes some 60 ms.
    ///
    /// - Throws: ``FaceEngineError`` with `selfCheckFailed`.
    static func run(_ engine: FaceEngine) throws(FaceEngineError) {
        guard hg_blas_name() != nil else {
            throw FaceEngineError(
                .selfCheckFailed,
                "BLAS is not OpenBLAS, which makes faces ten times slower: install libopenblas0-pthread, and see"
                    + " `update-alternatives --display libblas.so.3-x86_64-linux-gnu`")
        }
        var fastest = Double.infinity
        for _ in 0..<attempts {
            let start = processorMilliseconds()
            let descriptor = try engine.rawDescriptor(ofChip: testChip)
            fastest = min(fastest, processorMilliseconds() - start)
            try compare(descriptor, with: goldenDescriptor)
        }
        guard fastest <= maxDescriptorMilliseconds else {
            throw FaceEngineError(
                .selfCheckFailed,
                "a descriptor takes \(Int(fastest)) ms of processor time instead of some 12: is BLAS the fast one?")
        }
    }

    static func compare(_ descriptor: [Float], with golden: [Float]) throws(FaceEngineError) {
        let deviation = zip(descriptor, golden).map { abs($0 - $1) }.max() ?? .infinity
        guard descriptor.count == golden.count, deviation <= maxDeviation else {
            throw FaceEngineError(
                .selfCheckFailed, "the network's answer to the test picture is off by \(deviation): wrong model or library")
        }
    }

    /// A test picture of waves of three lengths, computed with integers only, so that it is the same on every machine.
    static var testChip: [UInt8] {
        let side = Int(HG_CHIP_SIDE)
        func wave(_ position: Int, _ length: Int) -> Int { abs(position % (2 * length) - length) * 255 / length }
        var chip: [UInt8] = []
        chip.reserveCapacity(side * side * 3)
        for row in 0..<side {
            for column in 0..<side {
                chip.append(UInt8(wave(row + column, 60)))
                chip.append(UInt8(wave(row * 2 + column, 45)))
                chip.append(UInt8((wave(column, 30) + wave(row, 75)) / 2))
            }
        }
        return chip
    }

    /// Returns the processor time of this thread, so that a busy machine is not mistaken for a slow library.
    private static func processorMilliseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}
