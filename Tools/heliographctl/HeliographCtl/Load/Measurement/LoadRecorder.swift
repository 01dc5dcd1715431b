internal import Synchronization

/// Records the actions of all tasks. Actions scheduled during the warm-up are not counted.
final class LoadRecorder: Sendable {
    /// The figures at a moment.
    struct Snapshot {
        var tallies: [LoadKind: LoadTally] = [:]
        var timeline = LoadTimeline()
        /// Delays of starts behind their schedule, from the concurrency limit or a lack of processor time on this machine.
        var lateness = LatencyHistogram()
        /// Actions in flight, warm-up included.
        var inFlight = 0
        /// Latencies for the progress line.
        var recent = RecentLatencies()
    }

    private let state = Mutex(Snapshot())
    private let warmUp: Duration
    private let start: ContinuousClock.Instant

    init(start: ContinuousClock.Instant, warmUp: Duration) {
        self.start = start
        self.warmUp = warmUp
    }

    /// Actions in flight, warm-up included.
    var inFlight: Int { state.withLock { $0.inFlight } }

    var snapshot: Snapshot { state.withLock { $0 } }

    /// Records the start of an action that was scheduled at its offset.
    func begin(_ arrival: Arrival) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.inFlight += 1
            guard let offset = measured(arrival) else { return }
            state.lateness.record(now - (start + arrival.offset))
            state.timeline.at(offset) { $0.asked += 1 }
        }
    }

    /// Records that an action has reached a stage; its latency runs from its scheduled start.
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

    /// Records the outcome of an action's session or job.
    func end(_ arrival: Arrival, as outcome: String) {
        state.withLock { state in
            if measured(arrival) != nil { state.tallies[arrival.kind, default: LoadTally()].end(as: outcome) }
        }
    }

    /// Records the end of a started action; `failure` is nil when it succeeded.
    func finish(_ arrival: Arrival, _ failure: LoadFailure?) {
        state.withLock { state in
            state.inFlight -= 1
            count(failure, of: arrival, in: &state)
        }
    }

    /// Records an action that was not started.
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

    /// The scheduled start after the warm-up; nil for an action of the warm-up.
    private func measured(_ arrival: Arrival) -> Duration? { arrival.offset >= warmUp ? arrival.offset - warmUp : nil }
}

/// The latencies of the last ten to twenty seconds.
struct RecentLatencies {
    private static let span: Duration = .seconds(10)

    private var old: [LoadKind: LatencyHistogram] = [:]
    private var new: [LoadKind: LatencyHistogram] = [:]
    private var since: ContinuousClock.Instant?

    mutating func record(_ latency: Duration, of kind: LoadKind, at instant: ContinuousClock.Instant) {
        rotate(at: instant)
        new[kind, default: LoadTimeline.Slice.histogram].record(latency)
    }

    /// The latencies of a kind, without those that are too old.
    mutating func latencies(of kind: LoadKind, at instant: ContinuousClock.Instant) -> LatencyHistogram {
        rotate(at: instant)
        var all = old[kind] ?? LoadTimeline.Slice.histogram
        if let new = new[kind] { all.add(new) }
        return all
    }

    private mutating func rotate(at instant: ContinuousClock.Instant) {
        let age = instant - (since ?? instant)
        if since == nil || age >= Self.span {
            old = age < Self.span * 2 ? new : [:]
            new = [:]
            since = instant
        }
    }
}
