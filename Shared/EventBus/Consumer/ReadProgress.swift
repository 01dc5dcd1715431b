import AsyncPrimitives
import Synchronization

/// The times of the read loop's last step and last completed read.
final class ReadProgress: Sendable {
    private struct State {
        var isWaitingForRoom = false
        var steppedAt: ContinuousClock.Instant
        var readAt: ContinuousClock.Instant
    }

    private let clock: any MonotonicClock
    private let state: Mutex<State>

    init(clock: any MonotonicClock) {
        self.clock = clock
        state = Mutex(State(steppedAt: clock.now, readAt: clock.now))
    }

    /// Records a step of the loop, whether or not the last one failed.
    func step() { state.withLock { $0.steppedAt = clock.now } }

    /// Records a completed read.
    func read() { state.withLock { $0.readAt = clock.now } }

    /// Records whether the loop waits for a free worker, which is no stall however long it takes.
    func waitForRoom(_ isWaiting: Bool) {
        state.withLock { $0 = State(isWaitingForRoom: isWaiting, steppedAt: clock.now, readAt: clock.now) }
    }

    /// Whether the loop waits for a free worker.
    var isWaitingForRoom: Bool { state.withLock { $0.isWaitingForRoom } }

    /// Time since the last step; zero while the loop waits for a free worker.
    func silence() -> Duration { state.withLock { $0.isWaitingForRoom ? .zero : clock.now - $0.steppedAt } }

    /// Time since the last completed read; zero while the loop waits for a free worker.
    func silenceOfReads() -> Duration { state.withLock { $0.isWaitingForRoom ? .zero : clock.now - $0.readAt } }
}
