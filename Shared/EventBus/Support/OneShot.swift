import Synchronization

/// A result that is set once and awaited by one task. Later results are ignored, and cancellation does not end the wait.
final class OneShot: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<EventBusError?, Never>)
        case completed(EventBusError?)
    }

    private let state = Mutex(State.open)

    /// Sets the result: an error, or nil for success.
    func complete(_ error: EventBusError?) {
        let waiter = state.withLock { state -> CheckedContinuation<EventBusError?, Never>? in
            switch state {
            case .completed: return nil
            case .open:
                state = .completed(error)
                return nil
            case .awaited(let waiter):
                state = .completed(error)
                return waiter
            }
        }
        waiter?.resume(returning: error)
    }

    /// Waits for the result; may be called once.
    func wait() async -> EventBusError? {
        await withCheckedContinuation { continuation in
            let error = state.withLock { state -> EventBusError?? in
                if case .completed(let error) = state { return .some(error) }
                state = .awaited(continuation)
                return nil
            }
            if let error { continuation.resume(returning: error) }
        }
    }
}
