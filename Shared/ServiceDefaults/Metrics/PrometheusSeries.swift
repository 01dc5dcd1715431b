import AsyncPrimitives
import CoreMetrics
import Synchronization

/// A counter, which only grows.
final class PrometheusCounter: CounterHandler, PrometheusSeries {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }

    func write(name: String, labels: String, lifetime: Duration, into text: inout String) {
        text += PrometheusText.line(name, labels, "\(value.load(ordering: .relaxed))")
    }
}

/// A gauge, which goes up and down.
///
/// A value that was not recorded again within the gauge's lifetime is unknown: its source cannot be read any more. Then the series is left
/// out, so that no alert and no dashboard takes the last value for the present one. An age, whose name ends in `_seconds`, grows by the
/// clock instead: it shows the age that may have been reached, and its alert fires although the source cannot be read.
final class PrometheusGauge: MeterHandler, RecorderHandler, PrometheusSeries {
    private struct State {
        var value = 0.0
        /// The time of the last recording; nil before the first one.
        var recordedAt: ContinuousClock.Instant?
    }
    private let state = Mutex(State())
    private let clock: any MonotonicClock

    init(clock: any MonotonicClock) { self.clock = clock }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { change { $0 = value } }
    func increment(by amount: Double) { change { $0 += amount } }
    func decrement(by amount: Double) { change { $0 -= amount } }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    func write(name: String, labels: String, lifetime: Duration, into text: inout String) {
        let state = state.withLock { $0 }
        guard let recordedAt = state.recordedAt else { return }
        let silence = clock.now - recordedAt
        if silence <= lifetime {
            text += PrometheusText.line(name, labels, "\(state.value)")
        } else if name.hasSuffix("_seconds") {
            text += PrometheusText.line(name, labels, "\(state.value + silence / .seconds(1))")
        }
    }

    private func change(_ body: (inout Double) -> Void) {
        let now = clock.now
        state.withLock { state in
            body(&state.value)
            state.recordedAt = now
        }
    }
}

/// A histogram with fixed buckets; durations are in seconds.
final class PrometheusHistogram: TimerHandler, RecorderHandler, PrometheusSeries {
    /// The upper bounds for durations, from a query on a Unix socket to a long poll.
    static let secondsBounds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]
    /// The upper bounds for everything else: sizes and counts.
    static let plainBounds: [Double] = [1, 2, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]

    private struct State {
        var counts: [Int]
        var sum = 0.0
        var count = 0
    }
    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 }
        state.withLock { state in
            if let bucket { state.counts[bucket] += 1 }
            state.sum += value
            state.count += 1
        }
    }

    func write(name: String, labels: String, lifetime: Duration, into text: inout String) {
        let snapshot = state.withLock { $0 }
        let separator = labels.isEmpty ? "" : ","
        var cumulated = 0
        for (bound, count) in zip(bounds, snapshot.counts) {
            cumulated += count
            text += PrometheusText.line("\(name)_bucket", "\(labels)\(separator)le=\"\(bound)\"", "\(cumulated)")
        }
        text += PrometheusText.line("\(name)_bucket", "\(labels)\(separator)le=\"+Inf\"", "\(snapshot.count)")
        text += PrometheusText.line("\(name)_sum", labels, "\(snapshot.sum)")
        text += PrometheusText.line("\(name)_count", labels, "\(snapshot.count)")
    }
}
