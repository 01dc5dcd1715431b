/// The shutdown state of a client that has its own thread. The client's mailbox keeps it under its lock.
package struct ClientShutdown: Sendable {
    /// The continuation of a task that waits for the client's thread to end.
    package typealias Waiter = CheckedContinuation<Void, Never>

    /// The time at which calls in flight must be failed; nil before the shutdown begins.
    package private(set) var deadline: ContinuousClock.Instant?
    /// Whether the client's thread has ended.
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

    /// Adds a waiter, unless the thread has ended; returns whether it has.
    package mutating func isClosed(orAdd waiter: Waiter) -> Bool {
        if !isClosed { waiters.append(waiter) }
        return isClosed
    }

    /// Marks the thread as ended and returns the waiters to resume.
    package mutating func close() -> [Waiter] {
        isClosed = true
        defer { waiters = [] }
        return waiters
    }
}
