internal import Synchronization

/// Wakes the one task that waits for it; a ring that nobody waits for wakes the next wait.
final class Bell: Sendable {
    private enum State {
        case silent
        case rung
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Mutex(State.silent)

    /// Wakes who waits, or who will.
    func ring() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { if case .awaited = state { state = .silent } else { state = .rung } }
            if case .awaited(let waiter) = state { return waiter }
            return nil
        }
        waiter?.resume()
    }

    /// Waits for a ring; whoever cancels the waiting task has to ring too.
    func wait() async {
        await withCheckedContinuation { continuation in
            let hasRung = state.withLock { state in
                if case .rung = state {
                    state = .silent
                    return true
                }
                state = .awaited(continuation)
                return false
            }
            if hasRung { continuation.resume() }
        }
    }
}
