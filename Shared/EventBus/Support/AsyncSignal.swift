import Synchronization

/// Wakes a waiting task; a ring that nobody waits for wakes the next one that does.
final class AsyncSignal: Sendable {
    private struct State {
        var hasRung = false
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Wakes all who wait, or the next who will.
    func signal() {
        let waiters = state.withLock { state in
            if state.waiters.isEmpty { state.hasRung = true }
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits for a ring, at most for `limit`; returns at once when the task is cancelled.
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
                    guard !state.hasRung else {
                        state.hasRung = false
                        return false
                    }
                    state.waiters[number] = continuation
                    return true
                }
                guard mustWait else { return continuation.resume() }
                // A task of its own, because nobody waits for a timer that is not needed any more.
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
