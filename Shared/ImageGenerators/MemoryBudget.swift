internal import Synchronization

/// A limit on the memory of concurrent image processing: work acquires its share before it begins, and waits until it is free.
///
/// Shares are granted in order of arrival, except that a smaller share that fits may overtake a waiting larger one. Each waiter can be
/// overtaken a limited number of times, so that no waiter waits for ever.
public final class MemoryBudget: Sendable {
    /// Maximum number of later waiters that may overtake one waiter.
    static let maxPasses = 16

    private struct Waiter {
        let id: Int
        let bytes: Int
        let continuation: CheckedContinuation<Void, any Error>
        var passes = 0
    }

    private struct State {
        var free: Int
        var waiters: [Waiter] = []
        var nextID = 0
    }

    /// The total in bytes.
    public let bytes: Int
    private let state: Mutex<State>

    /// Creates a budget of a number of bytes.
    public init(bytes: Int) {
        self.bytes = bytes
        state = Mutex(State(free: bytes))
    }

    /// The number of waiters, for tests.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Runs `body` with a share in bytes; a share larger than the budget is reduced to the whole budget.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, or the deadline passes, before the share is granted.
    public func withShare<Value>(
        of share: Int, until deadline: ContinuousClock.Instant? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        let share = min(max(share, 0), bytes)
        try await acquire(share, until: deadline)
        defer { release(share) }
        return try await body()
    }

    private func acquire(_ share: Int, until deadline: ContinuousClock.Instant?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let timer = deadline.map { deadline in
            Task { [weak self] in
                try await Task.sleep(until: deadline, clock: .continuous)
                self?.cancel(id)
            }
        }
        defer { timer?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    // A cancellation before this point is seen here; a later one finds the appended waiter.
                    guard !Task.isCancelled, deadline.map({ $0 > .now }) ?? true else { return true }
                    state.waiters.append(Waiter(id: id, bytes: share, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { serve() }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func release(_ share: Int) {
        state.withLock { $0.free += share }
        serve()
    }

    private func cancel(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: CancellationError())
        // The waiters behind it may fit now.
        if waiter != nil { serve() }
    }

    /// Resumes all waiters whose share can be granted.
    private func serve() {
        let served = state.withLock { state in
            var served: [Waiter] = []
            var index = 0
            while index < state.waiters.count {
                guard state.waiters[index].bytes <= state.free else {
                    index += 1
                    // A waiter that has been overtaken often enough blocks all waiters behind it.
                    if state.waiters[index - 1].passes >= Self.maxPasses { break }
                    continue
                }
                let waiter = state.waiters.remove(at: index)
                state.free -= waiter.bytes
                for earlier in 0..<index { state.waiters[earlier].passes += 1 }
                served.append(waiter)
            }
            return served
        }
        for waiter in served { waiter.continuation.resume() }
    }
}
