internal import Metrics
internal import Synchronization

/// The spans that have ended and are not exported yet: so many at most, for a collector that is away must not cost memory.
final class SpanQueue: Sendable {
    private struct State {
        var spans: [FinishedSpan] = []
        var closedAt: ContinuousClock.Instant?
        var hasRung = false
        var waiter: CheckedContinuation<Void, Never>?

        mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
            defer { waiter = nil }
            if waiter == nil { hasRung = true }
            return waiter
        }
    }

    /// The most spans that wait.
    private let spansMax: Int
    /// With so many the exporter is woken.
    private let batchMax: Int
    private let state = Mutex(State())
    private let dropped = Counter(label: "trace_spans_dropped_total", dimensions: [("reason", "queue_full")])

    init(spansMax: Int, batchMax: Int) {
        self.spansMax = spansMax
        self.batchMax = batchMax
    }

    /// Adds a span; one too many is dropped and counted.
    func add(_ span: FinishedSpan) {
        let (isFull, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard state.spans.count < spansMax else { return (true, nil) }
            state.spans.append(span)
            return (false, state.spans.count == batchMax ? state.takeWaiter() : nil)
        }
        if isFull { dropped.increment() }
        waiter?.resume()
    }

    /// Takes the oldest spans, a batch at most.
    func take() -> [FinishedSpan] {
        state.withLock { state in
            defer { state.spans.removeFirst(min(batchMax, state.spans.count)) }
            return Array(state.spans.prefix(batchMax))
        }
    }

    /// When the process began to end.
    var closedAt: ContinuousClock.Instant? { state.withLock { $0.closedAt } }

    /// Lets ``wait(upTo:)`` return at once, now and from now on.
    func close() {
        let waiter = state.withLock { state in
            if state.closedAt == nil { state.closedAt = .now }
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    /// Waits for a full batch, for the end of the process, or until the time is up. One task waits at a time.
    func wait(upTo limit: Duration) async {
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            state.withLock { $0.takeWaiter() }?.resume()
        }
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                defer { state.hasRung = false }
                if state.closedAt != nil || state.hasRung { return false }
                state.waiter = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        }
        timer.cancel()
    }
}
