import AsyncPrimitives
import Synchronization

/// Handles suspect entries of a process one at a time, while its consumers handle nothing else.
///
/// When a process dies, every entry that it holds counts a crash, although one of them at most caused it. Entries are therefore not dead
/// lettered for crashes that they shared: the second crash makes an entry suspect, and the last crash that counts happens in this lane.
final class IsolationLane: Sendable {
    private struct State {
        var consumers: [ConsumerState] = []
        /// Opens when the current run ends; nil when the lane is free.
        var currentRun: AsyncLatch?
    }

    private let state = Mutex(State())

    /// Adds a consumer that pauses during each run.
    func register(_ consumer: ConsumerState) { state.withLock { $0.consumers.append(consumer) } }

    /// Runs `body` while no consumer of the process handles an entry: waits for the run before it, pauses all consumers, and waits until
    /// they have settled what they began. Does not run `body` when the task is cancelled before.
    func run(_ body: () async -> Void) async {
        let ended = AsyncLatch()
        while let other = begin(ended) {
            await other.wait()
            if Task.isCancelled { return }
        }
        let consumers = state.withLock { $0.consumers }
        for consumer in consumers { await consumer.pause() }
        if !Task.isCancelled { await body() }
        for consumer in consumers { consumer.resume() }
        state.withLock { $0.currentRun = nil }
        ended.open()
    }

    /// Occupies the lane, or returns the latch of the run that occupies it.
    private func begin(_ ended: AsyncLatch) -> AsyncLatch? {
        state.withLock { state in
            if let other = state.currentRun { return other }
            state.currentRun = ended
            return nil
        }
    }
}
