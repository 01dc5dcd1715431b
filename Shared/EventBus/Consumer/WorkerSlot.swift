import Synchronization

/// Runs one worker at a time; a worker whose handler exceeds its time is cancelled and replaced.
final class WorkerSlot: Sendable {
    private struct State {
        var worker: Task<Bool, Never>?
        var startedAt: ContinuousClock.Instant?
        var cancelledAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Runs workers one after the other until one returns true: no work is left.
    func run(_ work: @escaping @Sendable () async -> Bool) async {
        while true {
            // Under the lock, so that the worker cannot begin entries before the slot knows it: its limit of time would never apply.
            let worker = state.withLock { state in
                let worker = Task { await work() }
                state = State(worker: worker)
                return worker
            }
            let isFinished = await withTaskCancellationHandler {
                await worker.value
            } onCancel: {
                worker.cancel()
            }
            if isFinished || Task.isCancelled { return }
        }
    }

    /// Records that the worker begins entries.
    func begin(_ now: ContinuousClock.Instant) { state.withLock { $0.startedAt = now } }

    /// Records that the worker has ended them.
    func end() {
        state.withLock { state in
            state.startedAt = nil
            state.cancelledAt = nil
        }
    }

    /// Cancels the worker when its entries have taken longer than `limit`.
    ///
    /// - Returns: Time since cancellation during which the worker has not stopped.
    func check(_ now: ContinuousClock.Instant, limit: Duration) -> Duration {
        state.withLock { state in
            if let cancelledAt = state.cancelledAt { return now - cancelledAt }
            guard let startedAt = state.startedAt, now - startedAt > limit else { return .zero }
            state.cancelledAt = now
            // Under the lock, so that the worker cannot have gone on to its next entries.
            state.worker?.cancel()
            return .zero
        }
    }
}
