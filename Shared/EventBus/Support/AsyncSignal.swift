import Synchronization

/// Wakes waiting tasks; a signal without a waiter is kept for the next wait.
final class AsyncSignal: Sendable {
    private struct State {
        var isSignalled = false
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Wakes all waiting tasks, or ends the next wait at once if there are none.
    func signal() {
        let waiters = state.withLock { state in
            if state.waiters.isEmpty { state.isSignalled = true }
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits for a signal, for at most `limit`; returns at once when the task is cancelled.
    func wait(upTo limit: Duration? = nil) async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        var timer: Task<Void, Never>?
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    if Task.isCancelled { return false }
                    guard !state.isSignalled else {
                        state.isSignalled = false
                        return false
                    }
                    state.waiters[number] = continuation
                    return true
                }
                guard mustWait else { return continuation.resume() }
                // An unstructured task: the wait must not last until a timer ends that is no longer needed.
                timer = limit.map { limit in
                    Task { [weak self] in
                        try? await Task.sleep(for: limit)
                        self?.giveUp(number)
                    }
                }
            }
        } onCancel: {
            giveUp(number)
        }
        timer?.cancel()
    }

    private func giveUp(_ number: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
}
