/// Counts and latencies of the actions of one kind.
struct LoadTally {
    /// The number of reasons counted separately; further ones count as one. A few dozen are expected, but the service chooses them.
    private static let maxReasons = 200

    private(set) var succeeded = 0
    private(set) var latencies: [LoadStage: LatencyHistogram] = [:]
    private(set) var failures: [LoadFailure: Int] = [:]
    /// Counts of the outcomes of sessions and jobs, by the API's names.
    private(set) var outcomes: [String: Int] = [:]

    /// The number of all actions.
    var asked: Int { succeeded + failures.values.reduce(0, +) }

    func count(_ sort: LoadFailure.Sort) -> Int { failures.reduce(0) { $0 + ($1.key.sort == sort ? $1.value : 0) } }

    mutating func reach(_ stage: LoadStage, after latency: Duration) {
        latencies[stage, default: LatencyHistogram()].record(latency)
    }

    mutating func end(as outcome: String) { Self.increment(&outcomes, outcome, other: "other") }

    /// Counts the end of an action; `failure` is nil when it succeeded.
    mutating func finish(_ failure: LoadFailure?) {
        guard let failure else { return succeeded += 1 }
        Self.increment(&failures, failure.countingKey, other: LoadFailure(failure.sort, at: failure.stage, "other reasons"))
    }

    private static func increment<Key>(_ counts: inout [Key: Int], _ key: Key, other: Key) {
        let isKnown = counts[key] != nil || counts.count < maxReasons
        counts[isKnown ? key : other, default: 0] += 1
    }
}
