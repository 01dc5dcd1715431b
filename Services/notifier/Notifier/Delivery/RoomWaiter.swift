internal import Synchronization

/// One wait for room in a ``SendQueue``. The first event that ends it decides: room, its timeout, a cancellation or a stop.
final class RoomWaiter: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Bool, Never>)
        case ended(hasRoom: Bool)
    }

    /// The number of pushes that need room.
    let count: Int
    private let state = Mutex(State.open)

    init(count: Int) { self.count = count }

    /// Waits until the wait is ended; returns at once when it already is.
    ///
    /// - Returns: Whether there is room.
    func wait() async -> Bool {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state -> Bool? in
                if case .ended(let hasRoom) = state { return hasRoom }
                state = .awaited(continuation)
                return nil
            }
            if let hasRoom { continuation.resume(returning: hasRoom) }
        }
    }

    /// Ends the wait.
    ///
    /// - Returns: Whether this call ended it; false when it had ended before.
    @discardableResult
    func end(hasRoom: Bool) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Bool, Never>?) in
            switch state {
            case .ended: return (false, nil)
            case .open:
                state = .ended(hasRoom: hasRoom)
                return (true, nil)
            case .awaited(let continuation):
                state = .ended(hasRoom: hasRoom)
                return (true, continuation)
            }
        }
        continuation?.resume(returning: hasRoom)
        return isFirst
    }
}
