internal import Synchronization

/// Wakes waiting tasks; a signal without a waiting task ends the next wait.
public final class AsyncSignal: Sendable {
    private struct State {
        var isSignalled = false
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Makes a signal that has not been given.
    public init() {}

    /// Wakes all waiting tasks, or ends the next wait at once if no task waits.
    public func signal() {
        let waiters: [UInt64: CheckedContinuation<Void, Never>]? = state.withLock { state in
            if state.waiters.isEmpty {
                state.isSignalled = true
                return nil
            }
            defer { state.waiters = [:] }
            return state.waiters
        }
        guard let waiters else { return }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits for a signal, for at most `limit`; returns at once when the task is cancelled.
    public func wait(upTo limit: Duration? = nil, clock: any MonotonicClock = ContinuousClock()) async {
        let number = nextWaiter()
        var timer: Task<Void, Never>?
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard add(continuation, as: number, isCancellable: true) else { return continuation.resume() }
                // An unstructured task: the wait must not last until a timer ends that is no longer needed.
                timer = limit.map { clock.now + $0 }.map { end in
                    Task { [weak self] in
                        try? await clock.sleep(until: end, tolerance: nil)
                        self?.giveUp(number)
                    }
                }
            }
        } onCancel: {
            giveUp(number)
        }
        timer?.cancel()
    }

    /// Waits for a signal, even if the task is cancelled: for work that is finished after a cancellation, and whose owner signals its end.
    public func waitDespiteCancellation() async {
        let number = nextWaiter()
        await withCheckedContinuation { continuation in
            if !add(continuation, as: number, isCancellable: false) { continuation.resume() }
        }
    }

    private func nextWaiter() -> UInt64 {
        state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
    }

    /// Adds a waiting task, unless a signal has been kept for it, or it is cancellable and cancelled.
    private func add(_ waiter: CheckedContinuation<Void, Never>, as number: UInt64, isCancellable: Bool) -> Bool {
        state.withLock { state in
            // Read under the lock: a later cancellation finds the waiter that is added here.
            if isCancellable, Task.isCancelled { return false }
            guard !state.isSignalled else {
                state.isSignalled = false
                return false
            }
            state.waiters[number] = waiter
            return true
        }
    }

    private func giveUp(_ number: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
}
