import AsyncPrimitives
import Synchronization

/// Handles the suspect entries of a process one at a time, while the consumer of the suspect's stream handles nothing else.
///
/// When a process dies, every entry that it holds counts a crash, although at most one of them caused it. So entries do not become dead
/// letters for shared crashes: the second crash makes an entry suspect, and its last counted crash happens in this lane. The consumers of
/// other streams go on: a suspect may take minutes. If another entry crashes the process in that time, the crash counts against the
/// suspect, which an operator can redrive.
final class IsolationLane: Sendable {
    /// Opens when the current run ends; nil when the lane is free.
    private let currentRun = Mutex<AsyncLatch?>(nil)

    /// Runs `body` while `consumer` handles no other entry: waits for the run before it, pauses the consumer, and waits until it has
    /// settled what it began. Does not run `body` when the task is cancelled before.
    func run(pausing consumer: StreamConsumerState, _ body: () async -> Void) async {
        let ended = AsyncLatch()
        while let other = begin(ended) {
            await other.wait()
            if Task.isCancelled { return }
        }
        await consumer.pause()
        if !Task.isCancelled { await body() }
        consumer.resume()
        currentRun.withLock { $0 = nil }
        ended.open()
    }

    /// Occupies the lane, or returns the latch of the run that occupies it.
    private func begin(_ ended: AsyncLatch) -> AsyncLatch? {
        currentRun.withLock { currentRun in
            if let other = currentRun { return other }
            currentRun = ended
            return nil
        }
    }
}
