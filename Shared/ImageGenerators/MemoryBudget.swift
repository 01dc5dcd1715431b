internal import Synchronization

/// Memory that work on pictures takes its share of before it begins, and waits for when too much is in use.
///
/// First come, first served, but for small shares: they go beside large work while a large share waits, a limited number of
/// times, so that it does not wait for ever.
public final class MemoryBudget: Sendable {
    /// How many later ones may go ahead of one that waits.
    static let passesMax = 16

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

    /// Bytes in all.
    public let bytes: Int
    private let state: Mutex<State>

    /// Makes a budget of so many bytes.
    public init(bytes: Int) {
        self.bytes = bytes
        state = Mutex(State(free: bytes))
    }

    /// How many wait; for tests.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Runs `body` with a share; one larger than the budget gets all of it.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, or the deadline is over, before the share is free.
    public func withShare<Value>(
        of share: Int, until deadline: ContinuousClock.Instant? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        let share = min(max(share, 0), bytes)
        try await take(share, until: deadline)
        defer { giveBack(share) }
        return try await body()
    }

    private func take(_ share: Int, until deadline: ContinuousClock.Instant?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let timer = deadline.map { deadline in
            Task { [weak self] in
                try await Task.sleep(until: deadline, clock: .continuous)
                self?.giveUp(id)
            }
        }
        defer { timer?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    // From here on it is found among those who wait, by whoever cancels it.
                    guard !Task.isCancelled, deadline.map({ $0 > .now }) ?? true else { return true }
                    state.waiters.append(Waiter(id: id, bytes: share, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { serve() }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    private func giveBack(_ share: Int) {
        state.withLock { $0.free += share }
        serve()
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: CancellationError())
        // Whoever waited behind it may go now.
        if waiter != nil { serve() }
    }

    /// Lets everybody go whose turn it is.
    private func serve() {
        let served = state.withLock { state in
            var served: [Waiter] = []
            var index = 0
            while index < state.waiters.count {
                guard state.waiters[index].bytes <= state.free else {
                    index += 1
                    // One that let enough others go first holds up all behind it.
                    if state.waiters[index - 1].passes >= Self.passesMax { break }
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
