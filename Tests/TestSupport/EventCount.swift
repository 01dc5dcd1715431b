import Synchronization

/// Counts events, and lets a test wait for one of them.
public final class EventCount: Sendable {
    private struct State {
        var count = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// Creates a count of zero events.
    public init() {}

    /// The number of events so far.
    public var count: Int { state.withLock(\.count) }

    /// Counts an event, and returns the number of those before it.
    @discardableResult public func add() -> Int {
        let (before, reached) = state.withLock { state in
            state.count += 1
            let reached = state.waiting.filter { $0.count <= state.count }
            state.waiting.removeAll { $0.count <= state.count }
            return (state.count - 1, reached.map(\.continuation))
        }
        for continuation in reached { continuation.resume() }
        return before
    }

    /// Waits until there were `count` events.
    public func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.count < count { state.waiting.append((count, continuation)) }
                return state.count >= count
            }
            if isReached { continuation.resume() }
        }
    }
}
