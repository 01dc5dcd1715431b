internal import Synchronization

/// A value that is set once and awaited by one task. Later values are ignored, and cancellation does not end the wait.
public final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case completed(Value)
    }

    private let state = Mutex(State.open)

    /// Makes one without a value.
    public init() {}

    /// Sets the value.
    ///
    /// - Returns: Whether this call has set it; false when an earlier one has.
    @discardableResult
    public func complete(_ value: Value) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
            defer { if case .completed = state {} else { state = .completed(value) } }
            switch state {
            case .completed: return (false, nil)
            case .open: return (true, nil)
            case .awaited(let waiter): return (true, waiter)
            }
        }
        waiter?.resume(returning: value)
        return isFirst
    }

    /// Waits for the value; may be called once.
    public func wait() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                if case .completed(let value) = state { return .some(value) }
                state = .awaited(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
