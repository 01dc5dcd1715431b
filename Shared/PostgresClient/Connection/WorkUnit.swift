internal import Synchronization

/// What a caller waits for: a query, a script, or a connection of its own.
///
/// Sendable is unchecked: the caller sets the continuation before it hands the unit over, and after that every
/// variable is touched on the loop only.
final class WorkUnit: @unchecked Sendable {
    enum Kind {
        /// May share a segment with other reads.
        case read
        /// Has a connection to itself while it runs.
        case exclusive
        /// Waits for a connection to keep until it is released.
        case lease
        /// Runs on a leased connection.
        case leased(LeaseID)
        /// Several statements in one text, on a leased connection, by the simple protocol.
        case script(LeaseID)
        /// Ends the transaction of a lease, if it was ever begun.
        case end(LeaseID)
    }

    enum Outcome {
        case rows(PostgresRows)
        case lease(LeaseID)
        /// There was nothing to do.
        case nothing
    }

    /// Where the unit is.
    enum State {
        case waiting, running, finished
    }

    let query: PostgresQuery
    /// What goes out with it, ahead of it, and whose results nobody waits for; only on a leased connection.
    let preceding: [PostgresQuery]
    let kind: Kind
    /// On the monotonic clock, in nanoseconds.
    let deadline: UInt64
    let isCancelled = Atomic<Bool>(false)

    /// Whether the pool has it.
    var isSubmitted = false
    /// Who waits: a task, or the pool itself.
    var continuation: CheckedContinuation<Result<Outcome, PostgresError>, Never>?
    var handler: ((Result<Outcome, PostgresError>) -> Void)?
    var state = State.waiting
    /// What the server said; it counts only once its segment is synced.
    var result: Result<PostgresRows, PostgresError>?
    /// Why the server was asked to stop it; takes the place of the server's own error.
    var stopReason: PostgresError?
    /// Whether it must not share a segment, because one it was in failed.
    var isAlone = false
    /// Whether it failed only because its prepared statement was stale.
    var isStale = false
    /// The connection it runs on.
    var connection: UInt64 = 0
    /// Whether it was sent again after its prepared statement turned out stale.
    var wasRepeated = false

    init(query: PostgresQuery, after preceding: [PostgresQuery] = [], kind: Kind, deadline: UInt64) {
        self.query = query
        self.preceding = preceding
        self.kind = kind
        self.deadline = deadline
    }

    /// Whether nothing of a failed try can have taken effect, so that it may be sent again: not so inside a transaction.
    var isRepeatable: Bool {
        switch kind {
        case .read, .exclusive: true
        case .lease, .leased, .script, .end: false
        }
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

/// Names one lease of one connection, so that a use after its end is noticed.
struct LeaseID: Hashable, Sendable {
    let connection: UInt64
    let number: UInt64
}
