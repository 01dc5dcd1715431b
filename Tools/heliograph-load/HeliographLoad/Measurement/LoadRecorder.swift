internal import Synchronization

/// Records the actions of all tasks. Actions scheduled during the warm-up are not counted.
final class LoadRecorder: Sendable {
    /// The figures at a moment.
    struct Snapshot {
        var tallies: [LoadKind: LoadTally] = [:]
        /// Delays of starts behind their schedule, from the concurrency limit or a lack of processor time on this machine.
        var lateness = LatencyHistogram()
        /// Actions in flight, warm-up included.
        var inFlight = 0
        /// Latencies for the progress line.
        var recent = RecentLatencies()
    }

    private let state = Mutex(Snapshot())
    private let warmUp: Duration
    /// The time from which arrivals are scheduled.
    let start: ContinuousClock.Instant

    init(start: ContinuousClock.Instant, warmUp: Duration) {
        self.start = start
        self.warmUp = warmUp
    }

    /// Actions in flight, warm-up included.
    var inFlight: Int { state.withLock { $0.inFlight } }

    var snapshot: Snapshot { state.withLock { $0 } }

    /// Records the start of an action that was scheduled at its offset.
    func begin(_ arrival: Arrival) {
        let lateness = ContinuousClock.now - (start + arrival.offset)
        state.withLock { state in
            state.inFlight += 1
            if isMeasured(arrival) { state.lateness.record(lateness) }
        }
    }

    /// Records that an action has reached a stage; its latency runs from its scheduled start.
    func reach(_ stage: LoadStage, _ arrival: Arrival, at instant: ContinuousClock.Instant = .now) {
        let latency = max(.zero, instant - (start + arrival.offset))
        measure(arrival) { state in
            state.tallies[arrival.kind, default: LoadTally()].reach(stage, after: latency)
            if stage == arrival.kind.end { state.recent.record(latency, of: arrival.kind, at: instant) }
        }
    }

    /// Records the outcome of an action's session or job.
    func end(_ arrival: Arrival, as outcome: String) {
        measure(arrival) { $0.tallies[arrival.kind, default: LoadTally()].end(as: outcome) }
    }

    /// Records the end of a started action; `failure` is nil when it succeeded.
    func finish(_ arrival: Arrival, _ failure: LoadFailure?) {
        state.withLock { $0.inFlight -= 1 }
        measure(arrival) { $0.tallies[arrival.kind, default: LoadTally()].finish(failure) }
    }

    /// Records an action that was not started.
    func skip(_ arrival: Arrival, because reason: String) {
        measure(arrival) { $0.tallies[arrival.kind, default: LoadTally()].finish(LoadFailure(.notStarted, at: nil, reason)) }
    }

    private func measure(_ arrival: Arrival, _ change: (inout Snapshot) -> Void) {
        if isMeasured(arrival) { state.withLock { change(&$0) } }
    }

    private func isMeasured(_ arrival: Arrival) -> Bool { arrival.offset >= warmUp }
}

/// The latencies of the last ten to twenty seconds.
struct RecentLatencies {
    private static let span: Duration = .seconds(10)

    private var spans: (old: [LoadKind: LatencyHistogram], new: [LoadKind: LatencyHistogram]) = ([:], [:])
    private var since = ContinuousClock.now

    mutating func record(_ latency: Duration, of kind: LoadKind, at instant: ContinuousClock.Instant) {
        if instant - since >= Self.span {
            spans = (spans.new, [:])
            since = instant
        }
        spans.new[kind, default: LatencyHistogram()].record(latency)
    }

    func latencies(of kind: LoadKind) -> LatencyHistogram {
        var all = spans.old[kind] ?? LatencyHistogram()
        if let new = spans.new[kind] { all.add(new) }
        return all
    }
}
