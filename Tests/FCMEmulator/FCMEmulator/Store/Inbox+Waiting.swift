import Synchronization

/// Who waits for messages.
extension Inbox {
    /// Returns true at the next message that may make it enough, at the deadline, or when the task is cancelled; false
    /// at once when there is enough, or no more to wait for.
    func change(_ registration: String?, _ count: Int, until deadline: ContinuousClock.Instant) async -> Bool {
        let id = makeID()
        let alarm = Task {
            try? await Task.sleep(until: deadline, clock: .continuous)
            wake(id)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            var isWaiting = false
            await withCheckedContinuation { continuation in
                isWaiting = state.withLock { state in
                    // Whoever cancels later finds the waiter, because its alarm needs the lock as well.
                    guard !Task.isCancelled, !state.isClosed, state.waiters.count < limits.waiters,
                        Self.count(state, registration) < count
                    else { return false }
                    state.waiters[id] = Waiter(registration: registration, count: count, continuation: continuation)
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
            return isWaiting
        } onCancel: {
            alarm.cancel()
        }
    }

    private func wake(_ id: Int) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
    }

    static func takeWaiters(_ state: inout State, for registration: String?) -> [Waiter] {
        guard !state.waiters.isEmpty else { return [] }
        let total = state.messages.count
        let woken = state.waiters.filter { _, waiter in
            waiter.registration.map { $0 == registration } ?? (total >= waiter.count)
        }
        for id in woken.keys { state.waiters[id] = nil }
        return Array(woken.values)
    }

    func makeID() -> Int {
        state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
    }
}
