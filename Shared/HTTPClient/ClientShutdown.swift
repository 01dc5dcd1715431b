/// The shutdown state of a client that has its own thread. The client's mailbox keeps it under its lock.
struct ClientShutdown: Sendable {
    /// The continuation of a task that waits for the client's thread to end.
    typealias Waiter = CheckedContinuation<Void, Never>

    /// The time at which calls in flight must be failed; nil before the shutdown begins.
    private(set) var deadline: ContinuousClock.Instant?
    /// Whether the client's thread has ended.
    private(set) var isClosed = false
    private var waiters: [Waiter] = []

    init() {}

    /// Whether calls must be refused.
    var refusesCalls: Bool { deadline != nil || isClosed }

    /// Begins the shutdown; a second call may only shorten the grace.
    mutating func begin(grace: Duration) {
        let deadline = ContinuousClock.now + grace
        self.deadline = min(self.deadline ?? deadline, deadline)
    }

    /// Adds a waiter, unless the thread has ended; returns whether it has.
    mutating func isClosed(orAdd waiter: Waiter) -> Bool {
        if !isClosed { waiters.append(waiter) }
        return isClosed
    }

    /// Marks the thread as ended and returns the waiters to resume.
    mutating func close() -> [Waiter] {
        isClosed = true
        defer { waiters = [] }
        return waiters
    }
}
