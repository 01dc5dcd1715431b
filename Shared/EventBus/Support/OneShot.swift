import Synchronization

/// How something ended, for one who waits: the first word counts, and the wait does not end before it, cancelled or not.
final class OneShot: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<EventBusError?, Never>)
        case over(EventBusError?)
    }

    private let state = Mutex(State.open)

    /// It has ended, with an error or without.
    func complete(_ error: EventBusError?) {
        let waiter = state.withLock { state -> CheckedContinuation<EventBusError?, Never>? in
            switch state {
            case .over: return nil
            case .open:
                state = .over(error)
                return nil
            case .awaited(let waiter):
                state = .over(error)
                return waiter
            }
        }
        waiter?.resume(returning: error)
    }

    /// Waits for the end; once.
    func wait() async -> EventBusError? {
        await withCheckedContinuation { continuation in
            let error = state.withLock { state -> EventBusError?? in
                if case .over(let error) = state { return .some(error) }
                state = .awaited(continuation)
                return nil
            }
            if let error { continuation.resume(returning: error) }
        }
    }
}
