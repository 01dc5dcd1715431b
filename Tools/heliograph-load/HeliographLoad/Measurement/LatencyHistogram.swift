/// Counts latencies in logarithmic buckets, so that millions of them take a few kilobytes.
///
/// Each power of two is divided into 128 buckets. A quantile is never below the true one, and above it by less than 0.8 % of it. The
/// unit is a microsecond; times above 38 hours count as 38 hours.
struct LatencyHistogram: Equatable {
    private static let maxMicroseconds: UInt64 = 1 << 37
    /// The base-2 logarithm of the number of buckets of a power of two.
    private static let precisionBits = 7

    private(set) var count = 0
    private(set) var max = Duration.zero
    private var microsecondsSum = 0.0
    /// Counts of the buckets, up to the bucket of the longest time.
    private var counts: [Int] = []

    mutating func record(_ duration: Duration) {
        let microseconds = Self.microseconds(duration)
        let index = Self.index(of: microseconds)
        if index >= counts.count { counts += Array(repeating: 0, count: index + 1 - counts.count) }
        counts[index] += 1
        count += 1
        microsecondsSum += Double(microseconds)
        max = Swift.max(max, .microseconds(microseconds))
    }

    /// Adds the counts of another histogram.
    mutating func add(_ other: LatencyHistogram) {
        if other.counts.count > counts.count { counts += Array(repeating: 0, count: other.counts.count - counts.count) }
        for (index, number) in other.counts.enumerated() { counts[index] += number }
        count += other.count
        microsecondsSum += other.microsecondsSum
        max = Swift.max(max, other.max)
    }

    /// The latency that a share of all, 0 to 1, did not exceed; nil when no latency was counted.
    func quantile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        // Subtracts a little, because 0.99 × 100 is slightly more than 99.
        let rank = Swift.max(1, Int((share * Double(count) - 1e-9).rounded(.up)))
        var seen = 0
        for (index, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return min(.microseconds(Self.highest(in: index)), max) }
        }
        return max
    }

    var mean: Duration? { count > 0 ? .microseconds(microsecondsSum / Double(count)) : nil }

    /// Rounds up to whole microseconds, so that no latency is reported shorter than it was. Integers are used because a `Double` is
    /// often just below the exact value.
    private static func microseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = Swift.max(.zero, min(duration, .microseconds(maxMicroseconds))).components
        return UInt64(seconds * 1_000_000 + (attoseconds + 999_999_999_999) / 1_000_000_000_000)
    }

    private static func index(of microseconds: UInt64) -> Int {
        guard microseconds >> (precisionBits + 1) > 0 else { return Int(microseconds) }
        let shift = 63 - microseconds.leadingZeroBitCount - precisionBits
        return (shift << precisionBits) + Int(microseconds >> UInt64(shift))
    }

    /// The longest time of a bucket, in microseconds.
    private static func highest(in index: Int) -> UInt64 {
        guard index >> (precisionBits + 1) > 0 else { return UInt64(index) }
        let shift = (index >> precisionBits) - 1
        let mantissa = index - (shift << precisionBits)
        return (UInt64(mantissa + 1) << UInt64(shift)) - 1
    }
}
