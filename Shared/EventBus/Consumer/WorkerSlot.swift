import Synchronization

/// A place for one worker, whose present one can be cancelled when its handler takes too long; another then takes its place.
final class WorkerSlot: Sendable {
    private struct State {
        var worker: Task<Bool, Never>?
        var startedAt: ContinuousClock.Instant?
        var cancelledAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Runs workers one after the other until one says that there is no more work.
    func run(_ work: @escaping @Sendable () async -> Bool) async {
        while true {
            let worker = Task { await work() }
            state.withLock { $0 = State(worker: worker) }
            let isFinished = await withTaskCancellationHandler {
                await worker.value
            } onCancel: {
                worker.cancel()
            }
            if isFinished || Task.isCancelled { return }
        }
    }

    /// The worker begins with entries.
    func begin(_ now: ContinuousClock.Instant) { state.withLock { $0.startedAt = now } }

    /// The worker is through with them.
    func end() {
        state.withLock { state in
            state.startedAt = nil
            state.cancelledAt = nil
        }
    }

    /// Cancels a worker that has been at it for longer than `limit`.
    ///
    /// - Returns: For how long a worker that was cancelled has not cared.
    func check(_ now: ContinuousClock.Instant, limit: Duration) -> Duration {
        let (worker, ignored) = state.withLock { state -> (Task<Bool, Never>?, Duration) in
            if let cancelledAt = state.cancelledAt { return (nil, now - cancelledAt) }
            guard let startedAt = state.startedAt, now - startedAt > limit else { return (nil, .zero) }
            state.cancelledAt = now
            return (state.worker, .zero)
        }
        worker?.cancel()
        return ignored
    }
}

/// When the read loop last made a step.
final class ReadProgress: Sendable {
    private enum State {
        case waitingForRoom
        case stepped(ContinuousClock.Instant)
    }

    private let state = Mutex(State.stepped(.now))

    /// The loop came to the next step: a read came back, or failed.
    func step() { state.withLock { $0 = .stepped(.now) } }

    /// The loop waits until a worker is free, however long that takes.
    func waitForRoom() { state.withLock { $0 = .waitingForRoom } }

    /// For how long the loop has made no step.
    func silence(_ now: ContinuousClock.Instant = .now) -> Duration {
        switch state.withLock({ $0 }) {
        case .waitingForRoom: .zero
        case .stepped(let at): now - at
        }
    }
}
