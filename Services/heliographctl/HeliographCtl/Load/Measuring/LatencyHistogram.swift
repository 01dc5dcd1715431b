/// Counts spans of time in buckets that grow with them, so that a day's millions take a few kilobytes.
///
/// Each power of two is cut into 2^`precisionBits` buckets. A quantile is never below the true one, and above it by less
/// than 1 / 2^`precisionBits` of it. Times count in microseconds, up to 38 hours; longer ones count as that.
struct LatencyHistogram: Equatable {
    private static let microsecondsMax: UInt64 = 1 << 37

    let precisionBits: Int
    private(set) var count = 0
    private(set) var max = Duration.zero
    private var microsecondsSum = 0.0
    /// Only as long as the longest time needs.
    private var counts: [Int] = []

    /// - Parameter precisionBits: 7, the standard, means errors under 0.8 %.
    init(precisionBits: Int = 7) { self.precisionBits = precisionBits }

    mutating func record(_ duration: Duration) {
        let microseconds = Self.microseconds(duration)
        let index = index(of: microseconds)
        if index >= counts.count { counts += Array(repeating: 0, count: index + 1 - counts.count) }
        counts[index] += 1
        count += 1
        microsecondsSum += Double(microseconds)
        max = Swift.max(max, .microseconds(microseconds))
    }

    /// Adds all that another of the same precision has counted.
    mutating func add(_ other: LatencyHistogram) {
        precondition(other.precisionBits == precisionBits, "histograms of different precision do not add up")
        if other.counts.count > counts.count { counts += Array(repeating: 0, count: other.counts.count - counts.count) }
        for (index, number) in other.counts.enumerated() { counts[index] += number }
        count += other.count
        microsecondsSum += other.microsecondsSum
        max = Swift.max(max, other.max)
    }

    /// The time that a share of all, 0 to 1, did not exceed; nil when nothing was counted.
    func quantile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        // Subtracted, because 0.99 × 100 is a bit more than 99.
        let rank = Swift.max(1, Int((share * Double(count) - 1e-9).rounded(.up)))
        var seen = 0
        for (index, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return min(.microseconds(highest(in: index)), max) }
        }
        return max
    }

    var mean: Duration? { count > 0 ? .microseconds(microsecondsSum / Double(count)) : nil }

    /// Counted up to the next whole one, so that nothing is told shorter than it was; by integers, because a `Double` is often just
    /// below.
    private static func microseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = Swift.max(.zero, min(duration, .microseconds(microsecondsMax))).components
        return UInt64(seconds * 1_000_000 + (attoseconds + 999_999_999_999) / 1_000_000_000_000)
    }

    private func index(of microseconds: UInt64) -> Int {
        guard microseconds >> (precisionBits + 1) > 0 else { return Int(microseconds) }
        let shift = 63 - microseconds.leadingZeroBitCount - precisionBits
        return (shift << precisionBits) + Int(microseconds >> UInt64(shift))
    }

    /// The longest time that a bucket counts.
    private func highest(in index: Int) -> UInt64 {
        guard index >> (precisionBits + 1) > 0 else { return UInt64(index) }
        let shift = (index >> precisionBits) - 1
        let mantissa = index - (shift << precisionBits)
        return (UInt64(mantissa + 1) << UInt64(shift)) - 1
    }
}
