/// Counts and latencies over time, in a bounded number of slices: they start with one second each, and their width doubles when
/// the maximum is reached.
struct LoadTimeline {
    /// The figures of one slice of time.
    struct Slice {
        /// Actions scheduled in it.
        var asked = 0
        /// Actions that succeeded in it.
        var succeeded = 0
        /// Actions that failed in it.
        var failed = 0
        /// Latencies of the actions scheduled in it.
        var latencies: [LoadKind: LatencyHistogram] = [:]

        mutating func add(_ other: Slice) {
            asked += other.asked
            succeeded += other.succeeded
            failed += other.failed
            for (kind, histogram) in other.latencies { latencies[kind, default: Self.histogram].add(histogram) }
        }

        /// A histogram with errors up to 6 %, which are invisible in a drawing, in an eighth of the memory.
        static var histogram: LatencyHistogram { LatencyHistogram(precisionBits: 4) }
    }

    private static let maxSlices = 240

    private(set) var width: Duration = .seconds(1)
    private(set) var slices: [Slice] = []

    /// Changes the slice of a time since the start.
    mutating func at(_ offset: Duration, _ change: (inout Slice) -> Void) {
        var index = index(of: offset)
        while index >= Self.maxSlices {
            halve()
            index = self.index(of: offset)
        }
        while slices.count <= index { slices.append(Slice()) }
        change(&slices[index])
    }

    /// The slices that begin before a time.
    func until(_ end: Duration) -> LoadTimeline {
        var cut = self
        cut.slices = Array(slices.prefix(Int((end / width).rounded(.up))))
        return cut
    }

    /// The timeline in at most `count` slices, for a drawing.
    func inSlices(atMost count: Int) -> LoadTimeline {
        var coarse = self
        while coarse.slices.count > count { coarse.halve() }
        return coarse
    }

    private func index(of offset: Duration) -> Int { max(0, Int(offset / width)) }

    private mutating func halve() {
        slices = stride(from: 0, to: slices.count, by: 2).map { first in
            var slice = slices[first]
            if first + 1 < slices.count { slice.add(slices[first + 1]) }
            return slice
        }
        width = width * 2
    }
}
