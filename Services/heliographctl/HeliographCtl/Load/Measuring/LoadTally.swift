/// What became of all that was done of one kind.
struct LoadTally {
    /// More reasons than these count as one: there are a few dozen, and what a service answers is not trusted to stay so.
    private static let reasonsMax = 200

    private(set) var succeeded = 0
    private(set) var latencies: [LoadStage: LatencyHistogram] = [:]
    private(set) var failures: [LoadFailure: Int] = [:]
    /// How sessions and jobs ended, in the API's words.
    private(set) var outcomes: [String: Int] = [:]

    /// Everything that was asked for.
    var asked: Int { succeeded + failures.values.reduce(0, +) }

    func count(_ sort: LoadFailure.Sort) -> Int { failures.reduce(0) { $0 + ($1.key.sort == sort ? $1.value : 0) } }

    mutating func reach(_ stage: LoadStage, after latency: Duration) {
        latencies[stage, default: LatencyHistogram()].record(latency)
    }

    mutating func end(as outcome: String) { Self.increment(&outcomes, outcome, other: "other") }

    mutating func succeed() { succeeded += 1 }

    mutating func fail(_ failure: LoadFailure) {
        Self.increment(&failures, failure.counted, other: LoadFailure(failure.sort, at: failure.stage, "other reasons"))
    }

    private static func increment<Key>(_ counts: inout [Key: Int], _ key: Key, other: Key) {
        let isKnown = counts[key] != nil || counts.count < reasonsMax
        counts[isKnown ? key : other, default: 0] += 1
    }
}
