/// Decides when the shared connection is made again, and queues the tasks that wait for it.
///
/// A state machine without input or output: the caller reports events and carries out the actions that it returns.
struct ConnectionStateMachine<Connection, Waiter> {
    private enum State {
        /// No connection has been requested so far.
        case idle
        case connecting(failures: Int)
        case connected(Connection)
        /// The last attempts failed, and the next one is scheduled.
        case pausing(failures: Int)
        case shutDown
    }

    /// Identifies one attempt to connect, and the connection that it makes.
    typealias Attempt = UInt64

    /// The answer to a task that requests a connection.
    enum Access {
        case use(Connection)
        /// Wait under this number, and make an attempt to connect if one is given.
        case wait(UInt64, attempt: Attempt?)
        case refused(RedisError)
    }

    /// The consequences of a failed attempt.
    struct Retry {
        /// Counts from 1; nil when no attempt follows until a task requests a connection.
        var failures: Int?
        /// Tasks to fail at once, because waiting cannot help them.
        var waitersToFail: [Waiter]
    }

    private var state = State.idle
    private var waiters: [UInt64: Waiter] = [:]
    private var lastWaiter: UInt64 = 0
    private var lastAttempt: Attempt = 0
    private let maxWaiters: Int
    /// Whether tasks wait through failed attempts; otherwise they fail with the first, because another server may be right for them.
    private let retries: Bool
    /// Why there is no connection: the cause in the error of a waiter whose deadline passes.
    private(set) var lastFailure: RedisError?

    init(maxWaiters: Int, retries: Bool = true) {
        self.maxWaiters = maxWaiters
        self.retries = retries
    }

    var connection: Connection? {
        if case .connected(let connection) = state { connection } else { nil }
    }

    /// Requests a connection for a task; when the task must wait, the caller then calls ``add(_:as:)``.
    mutating func access() -> Access {
        switch state {
        case .connected(let connection): return .use(connection)
        case .shutDown: return .refused(Self.shutDownError)
        case .idle, .connecting, .pausing: break
        }
        guard waiters.count < maxWaiters else {
            return .refused(RedisError(.queueFull, "\(waiters.count) commands are waiting for a connection, which is the limit"))
        }
        lastWaiter += 1
        return .wait(lastWaiter, attempt: start())
    }

    /// Begins the first attempt unless it has begun; the caller must make it.
    mutating func start() -> Attempt? {
        guard case .idle = state else { return nil }
        return begin(failures: 0)
    }

    mutating func add(_ waiter: Waiter, as number: UInt64) {
        precondition(number <= lastWaiter && waiters[number] == nil, "a waiter is added once, under a number of access()")
        waiters[number] = waiter
    }

    /// Removes a waiter whose deadline passed or whose task was cancelled; `nil` when it has been resumed.
    mutating func removeWaiter(_ number: UInt64) -> Waiter? {
        waiters.removeValue(forKey: number)
    }

    /// Records that an attempt succeeded; returns the waiters in order of arrival, or `nil` when the caller must close the connection.
    mutating func connected(_ connection: Connection) -> [Waiter]? {
        guard case .connecting = state else { return nil }
        state = .connected(connection)
        lastFailure = nil
        return takeWaiters()
    }

    /// Records that an attempt failed; `nil` when there must be no other.
    mutating func failed(_ error: RedisError) -> Retry? {
        guard case .connecting(let failures) = state else { return nil }
        lastFailure = error
        guard retries else {
            state = .idle
            return Retry(failures: nil, waitersToFail: takeWaiters())
        }
        state = .pausing(failures: failures + 1)
        // Waiting does not correct a wrong password; the client goes on trying for later commands.
        return Retry(failures: failures + 1, waitersToFail: error.code == .authenticationFailed ? takeWaiters() : [])
    }

    /// Records that the pause is over; returns the attempt to make, if any.
    mutating func pauseEnded() -> Attempt? {
        guard case .pausing(let failures) = state else { return nil }
        return begin(failures: failures)
    }

    /// Records that the connection of an attempt is unusable; returns the attempt that the caller must make in its place.
    mutating func lost(_ attempt: Attempt, _ error: RedisError) -> Attempt? {
        precondition(attempt <= lastAttempt, "the attempt was never made")
        guard case .connected = state, attempt == lastAttempt else { return nil }
        lastFailure = error
        return begin(failures: 0)
    }

    /// Refuses all further requests; returns the connection to close and the tasks to fail.
    mutating func shutDown() -> (Connection?, [Waiter]) {
        let connection = connection
        state = .shutDown
        return (connection, takeWaiters())
    }

    private mutating func begin(failures: Int) -> Attempt {
        if case .shutDown = state { preconditionFailure("no connection is made after the shutdown") }
        state = .connecting(failures: failures)
        lastAttempt += 1
        return lastAttempt
    }

    private mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [:] }
        return waiters.sorted { $0.key < $1.key }.map(\.value)
    }

    static var shutDownError: RedisError { RedisError(.shutDown, "the Redis client was shut down") }
}
