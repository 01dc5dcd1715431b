/// Decides when the shared connection is made again and who waits for it.
///
/// A state machine without input or output: it is told what happened and returns what is to be done.
struct ConnectionKeeper<Connection, Waiter> {
    private enum State {
        /// Nobody has wanted a connection so far.
        case idle
        case connecting(failures: Int)
        case connected(Connection)
        /// The last attempts failed, and the next one waits for its time.
        case pausing(failures: Int)
        case shutDown
    }

    /// Names one attempt to connect, and the connection that comes of it.
    typealias Attempt = UInt64

    /// What a task that wants to send a command does.
    enum Access {
        case use(Connection)
        /// Wait under this number, and make an attempt to connect if one is given.
        case wait(UInt64, attempt: Attempt?)
        case refused(RedisError)
    }

    /// What follows a failed attempt.
    struct Retry {
        /// Counts from 1.
        var failures: Int
        /// Tasks to fail at once, because waiting will not help them.
        var hopeless: [Waiter]
    }

    private var state = State.idle
    private var waiters: [UInt64: Waiter] = [:]
    private var lastWaiter: UInt64 = 0
    private var lastAttempt: Attempt = 0
    private let maxWaiters: Int
    /// Why there is no connection, for those whose patience ends.
    private(set) var lastFailure: RedisError?

    init(maxWaiters: Int) {
        self.maxWaiters = maxWaiters
    }

    var connection: Connection? {
        if case .connected(let connection) = state { connection } else { nil }
    }

    /// The way to a connection for a task; a task that must wait then calls ``add(_:as:)``.
    mutating func access() -> Access {
        switch state {
        case .connected(let connection): return .use(connection)
        case .shutDown: return .refused(Self.shutDownError)
        case .idle, .connecting, .pausing: break
        }
        guard waiters.count < maxWaiters else {
            return .refused(RedisError(.queueFull, "\(waiters.count) commands wait for a connection, which is the limit"))
        }
        lastWaiter += 1
        return .wait(lastWaiter, attempt: start())
    }

    /// Begins the first attempt if nobody has; the caller must make it.
    mutating func start() -> Attempt? {
        guard case .idle = state else { return nil }
        return begin(failures: 0)
    }

    mutating func add(_ waiter: Waiter, as number: UInt64) {
        waiters[number] = waiter
    }

    /// Takes a waiter out whose patience has ended or whose task was cancelled; `nil` when it has been resumed.
    mutating func removeWaiter(_ number: UInt64) -> Waiter? {
        waiters.removeValue(forKey: number)
    }

    /// An attempt succeeded; returns those who waited, first come first, or `nil` when the connection is to be closed.
    mutating func connected(_ connection: Connection) -> [Waiter]? {
        guard case .connecting = state else { return nil }
        state = .connected(connection)
        lastFailure = nil
        return takeWaiters()
    }

    /// An attempt failed; `nil` when there shall be no other.
    mutating func failed(_ error: RedisError) -> Retry? {
        guard case .connecting(let failures) = state else { return nil }
        lastFailure = error
        state = .pausing(failures: failures + 1)
        // A wrong password does not become right by waiting; the client goes on trying for those who come later.
        return Retry(failures: failures + 1, hopeless: error.code == .authenticationFailed ? takeWaiters() : [])
    }

    /// The pause is over; gives the attempt to make, if any.
    mutating func pauseEnded() -> Attempt? {
        guard case .pausing(let failures) = state else { return nil }
        return begin(failures: failures)
    }

    /// The connection of an attempt is of no use any more; gives the attempt that the caller must make in its place.
    mutating func lost(_ attempt: Attempt, _ error: RedisError) -> Attempt? {
        guard case .connected = state, attempt == lastAttempt else { return nil }
        lastFailure = error
        return begin(failures: 0)
    }

    /// Ends it all; returns the connection to close and the tasks to fail.
    mutating func shutDown() -> (Connection?, [Waiter]) {
        let connection = connection
        state = .shutDown
        return (connection, takeWaiters())
    }

    private mutating func begin(failures: Int) -> Attempt {
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
