internal import Synchronization

/// A request of a caller: a query, a script, or a lease of a connection.
///
/// Sendable is unchecked: the caller sets the continuation before it submits the unit, and after that every variable is used on the
/// loop only.
final class WorkUnit: @unchecked Sendable {
    enum Kind {
        /// May share a segment with other reads.
        case read
        /// Has a connection to itself while it runs.
        case exclusive
        /// Leases a connection, until the lease is released.
        case lease
        /// Runs on a leased connection.
        case leased(LeaseID)
        /// Runs several statements in one text, on a leased connection, by the simple protocol.
        case script(LeaseID)
        /// Ends the transaction of a lease, if it was begun.
        case end(LeaseID)
    }

    enum Outcome {
        case rows(PostgresRows)
        case lease(LeaseID)
        /// No statement had to be sent.
        case nothing
    }

    /// The progress of a unit.
    enum State {
        case waiting, running, finished
    }

    let query: PostgresQuery
    /// The statements that are sent in the same write before it; their results are not needed. Only on a leased connection.
    let preceding: [PostgresQuery]
    let kind: Kind
    /// On the monotonic clock, in nanoseconds.
    let deadline: UInt64
    let isCancelled = Atomic<Bool>(false)

    /// Whether the pool has received it.
    var isSubmitted = false
    /// The time from which it waits for a connection, on the monotonic clock.
    var waitingSince: UInt64 = 0
    /// The waiting task; nil when the pool itself waits, with ``handler``.
    var continuation: CheckedContinuation<Result<Outcome, PostgresError>, Never>?
    var handler: ((Result<Outcome, PostgresError>) -> Void)?
    var state = State.waiting
    /// The server's result; it is final only when the Sync of its segment has arrived.
    var result: Result<PostgresRows, PostgresError>?
    /// Why the server was asked to stop it; replaces the server's own error.
    var stopReason: PostgresError?
    /// Whether it must not share a segment, because its last one failed.
    var needsOwnSegment = false
    /// Whether it failed only because its prepared statement was stale.
    var isStale = false
    /// The connection it runs on.
    var connection: UInt64 = 0
    /// Whether it was already sent again, after a stale prepared statement or a broken connection.
    var wasRetried = false

    init(query: PostgresQuery, after preceding: [PostgresQuery] = [], kind: Kind, deadline: UInt64) {
        self.query = query
        self.preceding = preceding
        self.kind = kind
        self.deadline = deadline
    }

    /// Whether a failed attempt cannot have taken effect, so that the unit may be sent again: false inside a transaction.
    var isRetryable: Bool {
        switch kind {
        case .read, .exclusive: true
        case .lease, .leased, .script, .end: false
        }
    }

    /// Whether a cancel request that was meant for another read has stopped it.
    var wasStoppedByMistake: Bool {
        guard case .read = kind, case .failure(let error)? = result else { return false }
        return error.sqlState == "57014" && stopReason == nil && !wasRetried
    }

    /// Resumes the caller, once.
    func finish(_ outcome: Result<Outcome, PostgresError>) {
        state = .finished
        result = nil
        let (task, body) = (continuation, handler)
        (continuation, handler) = (nil, nil)
        task?.resume(returning: outcome)
        body?(outcome)
    }
}

/// Identifies one lease of one connection, so that a use after its end is detected.
struct LeaseID: Hashable, Sendable {
    let connection: UInt64
    let number: UInt64
}
