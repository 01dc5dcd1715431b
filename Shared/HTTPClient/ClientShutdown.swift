/// How far the shutdown of a client with a thread of its own has come.
///
/// A part of what the client's mailbox keeps under its lock.
package struct ClientShutdown: Sendable {
    /// Somebody who waits for the client's thread to end.
    package typealias Waiter = CheckedContinuation<Void, Never>

    /// When what is still in flight must be failed, once the shutdown has begun.
    package private(set) var deadline: ContinuousClock.Instant?
    /// Whether the client's thread takes nothing any more.
    package private(set) var isClosed = false
    private var waiters: [Waiter] = []

    package init() {}

    /// Whether calls must be refused.
    package var refusesCalls: Bool { deadline != nil || isClosed }

    /// Begins the shutdown; a second call may only shorten the grace.
    package mutating func begin(grace: Duration) {
        let deadline = ContinuousClock.now + grace
        self.deadline = min(self.deadline ?? deadline, deadline)
    }

    /// Keeps whom to tell of the end; returns whether it has come, and the waiter was not kept.
    package mutating func isClosed(orTell waiter: Waiter) -> Bool {
        if !isClosed { waiters.append(waiter) }
        return isClosed
    }

    /// Marks the end and returns whom to tell of it, each once.
    package mutating func close() -> [Waiter] {
        isClosed = true
        defer { waiters = [] }
        return waiters
    }
}
