import Synchronization

/// Requests that wait for messages.
extension Inbox {
    /// The condition that ends a wait.
    enum Goal {
        /// At least that number of messages are kept.
        case kept(Int)
        /// A message with that number or a later one has arrived.
        case number(Int)
    }

    /// Maximum number of messages of one page.
    private static let maxPage = 1_000

    /// Returns a page of the messages from a number on, once there is one or the time is over, and the number that the next page
    /// begins with. For a number in the future the page begins with the next message.
    func page(from number: Int, within patience: Duration) async -> (messages: [ReceivedMessage], next: Int) {
        let deadline = ContinuousClock.now + min(patience, .seconds(limits.waitSeconds))
        let number = min(number, state.withLock { $0.messages.end })
        while ContinuousClock.now < deadline, await change(nil, .number(number), until: deadline) {}
        let (first, page) = state.withLock { state in
            let first = max(number, state.messages.start)
            return (first, Array(state.messages.suffix(from: first).prefix(Self.maxPage)))
        }
        return (page.map(\.received), first + page.count)
    }

    /// Waits for the next message that may reach the goal. Returns true after a wait that such a message, the deadline or a
    /// cancellation ended; false at once when the goal is reached or no wait is possible (cancelled, closed, too many waiters).
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
                    // A later cancellation finds the waiter, because its alarm takes the same lock.
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
