internal import Foundation

/// Runs a ``Reducer`` on the caller's thread: for decisions that a system call waits for, such as the end of an extension's time.
///
/// One event at a time: a caller on another thread waits until all effects of the previous event have been performed. An effect must not
/// take long. Events that an effect sends, directly or by returning them, are handled after it and before events of other threads.
final class SynchronousRunner<Machine: Reducer & SendableMetatype>: @unchecked Sendable {
    // `current`, `queue` and `isRunning` are read and written under `lock` alone; the other members are constant and Sendable. The lock is
    // recursive, so that an effect may call back.
    private let lock = NSRecursiveLock()
    private var current: Machine.State
    private var queue: [Machine.Event] = []
    private var isRunning = false
    private let perform: @Sendable (Machine.Effect, SynchronousRunner) -> [Machine.Event]

    /// - Parameter perform: Performs an effect. It is given the runner, for tasks that send an event later.
    init(_ state: Machine.State, perform: @escaping @Sendable (Machine.Effect, SynchronousRunner) -> [Machine.Event] = { _, _ in [] }) {
        current = state
        self.perform = perform
    }

    var state: Machine.State { lock.withLock { current } }

    /// Handles an event; returns when its effects have been performed. From within an effect it returns at once.
    func send(_ event: Machine.Event) {
        lock.withLock {
            queue.append(event)
            guard !isRunning else { return }
            isRunning = true
            while !queue.isEmpty {
                for effect in Machine.reduce(&current, queue.removeFirst()) { queue.insert(contentsOf: perform(effect, self), at: 0) }
            }
            isRunning = false
        }
    }

    /// Handles an event and returns its effects, which the caller performs.
    func effects(of event: Machine.Event) -> [Machine.Effect] {
        lock.withLock { Machine.reduce(&current, event) }
    }
}
