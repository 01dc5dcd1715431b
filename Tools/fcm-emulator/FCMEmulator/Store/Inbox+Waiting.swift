import Synchronization

/// Who waits for messages.
extension Inbox {
    /// What ends a wait.
    enum Goal {
        /// So many messages are kept.
        case kept(Int)
        /// A message with that number, or a later one, has come.
        case number(Int)
    }

    /// The most messages of one page.
    private static let pageMax = 1_000

    /// The messages from a number on, a page of them, once there is one or the time is over, and the number that the next page
    /// begins with. A number that is yet to come begins with the next message.
    func page(from number: Int, within patience: Duration) async -> (messages: [ReceivedMessage], next: Int) {
        let deadline = ContinuousClock.now + min(patience, .seconds(limits.waitSeconds))
        let number = min(number, state.withLock { $0.messages.end })
        while ContinuousClock.now < deadline, await change(nil, .number(number), until: deadline) {}
        let (first, page) = state.withLock { state in
            let first = max(number, state.messages.start)
            return (first, Array(state.messages.suffix(from: first).prefix(Self.pageMax)))
        }
        return (page.map(\.received), first + page.count)
    }

    /// Returns true at the next message that may make it enough, at the deadline, or when the task is cancelled; false
    /// at once when there is enough, or no more to wait for.
    func change(_ registration: String?, _ goal: Goal, until deadline: ContinuousClock.Instant) async -> Bool {
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
                        !Self.isReached(goal, registration, in: state)
                    else { return false }
                    state.waiters[id] = Waiter(registration: registration, goal: goal, continuation: continuation)
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
        let woken = state.waiters.filter { _, waiter in
            waiter.registration.map { $0 == registration } ?? isReached(waiter.goal, nil, in: state)
        }
        for id in woken.keys { state.waiters[id] = nil }
        return Array(woken.values)
    }

    private static func isReached(_ goal: Goal, _ registration: String?, in state: State) -> Bool {
        switch goal {
        case .kept(let count): self.count(state, registration) >= count
        case .number(let number): state.messages.end > number
        }
    }

    func makeID() -> Int {
        state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
    }
}
