/// How the load went over time, in a bounded number of slices: they begin with a second each and double when they run out.
struct LoadTimeline {
    /// A stretch of time.
    struct Slice {
        /// What was to begin in it.
        var asked = 0
        /// What ended well in it.
        var succeeded = 0
        /// What came to nothing in it.
        var failed = 0
        /// How long took to its end what was to begin in it.
        var latencies: [LoadKind: LatencyHistogram] = [:]

        mutating func add(_ other: Slice) {
            asked += other.asked
            succeeded += other.succeeded
            failed += other.failed
            for (kind, histogram) in other.latencies { latencies[kind, default: Self.histogram].add(histogram) }
        }

        /// Errors of 6 % are not seen in a drawing, and cost an eighth of the room.
        static var histogram: LatencyHistogram { LatencyHistogram(precisionBits: 4) }
    }

    private static let slicesMax = 240

    private(set) var width: Duration = .seconds(1)
    private(set) var slices: [Slice] = []

    /// Lets something count in the slice of a time since the start.
    mutating func at(_ offset: Duration, _ change: (inout Slice) -> Void) {
        var index = index(of: offset)
        while index >= Self.slicesMax {
            halve()
            index = self.index(of: offset)
        }
        while slices.count <= index { slices.append(Slice()) }
        change(&slices[index])
    }

    /// The slices that begin before an end.
    func until(_ end: Duration) -> LoadTimeline {
        var cut = self
        cut.slices = Array(slices.prefix(Int((end / width).rounded(.up))))
        return cut
    }

    /// The same in at most so many slices, for a drawing.
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
