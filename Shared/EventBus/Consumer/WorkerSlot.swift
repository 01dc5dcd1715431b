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
        state.withLock { state in
            if let cancelledAt = state.cancelledAt { return now - cancelledAt }
            guard let startedAt = state.startedAt, now - startedAt > limit else { return .zero }
            state.cancelledAt = now
            // Under the lock, so that the worker cannot have gone on to its next entries.
            state.worker?.cancel()
            return .zero
        }
    }
}

/// When the read loop last made a step, and when it last heard from the server.
final class ReadProgress: Sendable {
    private struct State {
        var isWaitingForRoom = false
        var steppedAt = ContinuousClock.now
        var readAt = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// The loop came to the next step, whatever came of the last one.
    func step() { state.withLock { $0.steppedAt = .now } }

    /// A read came back.
    func read() { state.withLock { $0.readAt = .now } }

    /// The loop waits until a worker is free, however long that takes; or it does not any more.
    func waitForRoom(_ isWaiting: Bool) {
        state.withLock { state in
            state.isWaitingForRoom = isWaiting
            state.steppedAt = .now
            state.readAt = .now
        }
    }

    /// Whether the loop waits until a worker is free.
    var isWaitingForRoom: Bool { state.withLock { $0.isWaitingForRoom } }

    /// For how long the loop has made no step.
    func silence() -> Duration { state.withLock { $0.isWaitingForRoom ? .zero : .now - $0.steppedAt } }

    /// For how long no read has come back although there was room.
    func silenceOfReads() -> Duration { state.withLock { $0.isWaitingForRoom ? .zero : .now - $0.readAt } }
}
