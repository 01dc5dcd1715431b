internal import Metrics
internal import Synchronization

/// A bounded queue of finished spans that wait for their export; the bound limits the memory while the collector is unavailable.
final class SpanQueue: Sendable {
    private struct State {
        var spans: [FinishedSpan] = []
        var closedAt: ContinuousClock.Instant?
        var isSignalled = false
        var waiter: CheckedContinuation<Void, Never>?

        mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
            defer { waiter = nil }
            if waiter == nil { isSignalled = true }
            return waiter
        }
    }

    /// The maximum number of waiting spans.
    private let maxSpans: Int
    /// The number of waiting spans that wakes the exporter, and the maximum size of a batch.
    private let maxBatchSize: Int
    private let state = Mutex(State())
    private let dropped = Counter(label: "trace_spans_dropped_total", dimensions: [("reason", "queue_full")])

    init(maxSpans: Int, maxBatchSize: Int) {
        self.maxSpans = maxSpans
        self.maxBatchSize = maxBatchSize
    }

    /// Adds a span; when the queue is full, it is dropped and counted.
    func add(_ span: FinishedSpan) {
        let (isFull, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard state.spans.count < maxSpans else { return (true, nil) }
            state.spans.append(span)
            return (false, state.spans.count == maxBatchSize ? state.takeWaiter() : nil)
        }
        if isFull { dropped.increment() }
        waiter?.resume()
    }

    /// Removes and returns the oldest spans, at most a batch.
    func take() -> [FinishedSpan] {
        state.withLock { state in
            defer { state.spans.removeFirst(min(maxBatchSize, state.spans.count)) }
            return Array(state.spans.prefix(maxBatchSize))
        }
    }

    /// The start of the shutdown; nil before it.
    var closedAt: ContinuousClock.Instant? { state.withLock { $0.closedAt } }

    /// Makes ``wait(upTo:)`` return at once, now and from now on.
    func close() {
        let waiter = state.withLock { state in
            if state.closedAt == nil { state.closedAt = .now }
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    /// Waits for a full batch, for the shutdown, or until the time limit. Only one task may wait at a time.
    func wait(upTo limit: Duration) async {
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            state.withLock { $0.takeWaiter() }?.resume()
        }
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                defer { state.isSignalled = false }
                if state.closedAt != nil || state.isSignalled { return false }
                state.waiter = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        }
        timer.cancel()
    }
}
