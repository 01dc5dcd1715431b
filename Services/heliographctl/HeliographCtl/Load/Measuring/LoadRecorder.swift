internal import Synchronization

/// Counts what happens, from wherever it happens. What was to begin during the warm-up is not counted.
final class LoadRecorder: Sendable {
    /// What there is to say at a moment.
    struct Snapshot {
        var tallies: [LoadKind: LoadTally] = [:]
        var timeline = LoadTimeline()
        /// How late things were begun for want of room or of the load's own processor time.
        var lateness = LatencyHistogram()
        /// What is under way, warm-up included.
        var underWay = 0
        /// What is needed by the line that shows how it goes.
        var recent = RecentLatencies()
    }

    private let state = Mutex(Snapshot())
    private let warmUp: Duration
    private let start: ContinuousClock.Instant

    init(start: ContinuousClock.Instant, warmUp: Duration) {
        self.start = start
        self.warmUp = warmUp
    }

    /// What is under way.
    var underWay: Int { state.withLock { $0.underWay } }

    var snapshot: Snapshot { state.withLock { $0 } }

    /// Something begins now that was to begin at its offset.
    func begin(_ arrival: Arrival) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.underWay += 1
            guard let offset = measured(arrival) else { return }
            state.lateness.record(now - (start + arrival.offset))
            state.timeline.at(offset) { $0.asked += 1 }
        }
    }

    /// Something has come to a stage; its time runs from when it was to begin.
    func reach(_ stage: LoadStage, _ arrival: Arrival, at instant: ContinuousClock.Instant = .now) {
        let latency = max(.zero, instant - (start + arrival.offset))
        state.withLock { state in
            guard let offset = measured(arrival) else { return }
            state.tallies[arrival.kind, default: LoadTally()].reach(stage, after: latency)
            guard stage == arrival.kind.end else { return }
            state.recent.record(latency, of: arrival.kind, at: instant)
            state.timeline.at(offset) { $0.latencies[arrival.kind, default: LoadTimeline.Slice.histogram].record(latency) }
        }
    }

    /// A session or job has ended.
    func end(_ arrival: Arrival, as outcome: String) {
        state.withLock { state in
            if measured(arrival) != nil { state.tallies[arrival.kind, default: LoadTally()].end(as: outcome) }
        }
    }

    /// Something that had begun is over.
    func finish(_ arrival: Arrival, _ failure: LoadFailure?) {
        state.withLock { state in
            state.underWay -= 1
            count(failure, of: arrival, in: &state)
        }
    }

    /// Something was never begun.
    func skip(_ arrival: Arrival, because reason: String) {
        state.withLock { state in
            guard let offset = measured(arrival) else { return }
            state.timeline.at(offset) { $0.asked += 1 }
            count(LoadFailure(.notStarted, at: nil, reason), of: arrival, in: &state)
        }
    }

    private func count(_ failure: LoadFailure?, of arrival: Arrival, in state: inout Snapshot) {
        guard measured(arrival) != nil else { return }
        let now = ContinuousClock.now - start - warmUp
        if let failure {
            state.tallies[arrival.kind, default: LoadTally()].fail(failure)
            state.timeline.at(now) { $0.failed += 1 }
        } else {
            state.tallies[arrival.kind, default: LoadTally()].succeed()
            state.timeline.at(now) { $0.succeeded += 1 }
        }
    }

    /// The time since the end of the warm-up; nil for what belongs to it.
    private func measured(_ arrival: Arrival) -> Duration? { arrival.offset >= warmUp ? arrival.offset - warmUp : nil }
}

/// The latencies of the last ten to twenty seconds.
struct RecentLatencies {
    private static let span: Duration = .seconds(10)

    private var old: [LoadKind: LatencyHistogram] = [:]
    private var new: [LoadKind: LatencyHistogram] = [:]
    private var since: ContinuousClock.Instant?

    mutating func record(_ latency: Duration, of kind: LoadKind, at instant: ContinuousClock.Instant) {
        turn(at: instant)
        new[kind, default: LoadTimeline.Slice.histogram].record(latency)
    }

    /// The latencies of a kind, whatever is too old for them let go.
    mutating func latencies(of kind: LoadKind, at instant: ContinuousClock.Instant) -> LatencyHistogram {
        turn(at: instant)
        var all = old[kind] ?? LoadTimeline.Slice.histogram
        if let new = new[kind] { all.add(new) }
        return all
    }

    private mutating func turn(at instant: ContinuousClock.Instant) {
        let age = instant - (since ?? instant)
        if since == nil || age >= Self.span {
            old = age < Self.span * 2 ? new : [:]
            new = [:]
            since = instant
        }
    }
}
