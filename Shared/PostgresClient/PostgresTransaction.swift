internal import Synchronization

/// A transaction in progress; it must not be used after the body of `withTransaction` returned.
public struct PostgresTransaction: PostgresQueryable {
    let core: ClientCore
    let lease: LeaseID
    /// The channels whose listeners are woken by the commit.
    let channels = ChannelSet()
    /// What goes out with the next statement, or with the commit.
    let pending = PendingStatements()

    /// Runs a query in the transaction, after those sent before it.
    ///
    /// - Throws: ``PostgresError``. After an SQLSTATE error only a rollback is left: let the error leave the body.
    public func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows {
        try core.validate(query)
        return try await send(query, after: pending.takeAll())
    }

    /// Runs a query with what precedes it. Whether that was sent is unknown when it fails, so that there is no commit then, even if the
    /// body goes on.
    private func send(_ query: PostgresQuery, after preceding: [PostgresQuery]) async throws(PostgresError) -> PostgresRows {
        do throws(PostgresError) {
            return try await core.query(query, after: preceding, .leased(lease))
        } catch {
            if !preceding.isEmpty { pending.lose() }
            throw error
        }
    }

    public func enqueue(_ query: PostgresQuery) async throws(PostgresError) {
        try core.validate(query)
        pending.append(query)
    }

    /// Runs a text that may hold several statements, without parameters.
    ///
    /// The text must not end the transaction.
    /// - Returns: the rows of the last statement.
    /// - Throws: ``PostgresError``.
    @discardableResult
    public func script(_ sql: String, timeout: Duration? = nil) async throws(PostgresError) -> PostgresRows {
        var earlier = pending.takeAll()
        if let last = earlier.popLast() { _ = try await send(last, after: earlier) }
        var query = PostgresQuery(unescaped: sql)
        query.timeout = timeout
        return try await core.query(query, .script(lease))
    }

    public func hasListeners(on channel: String) -> Bool { core.pool.hasListeners(on: channel) }

    public func wakeListeners(on channel: String) { channels.insert(channel) }

    /// Has the commit return before the disk has it: for work that somebody does again when it is lost.
    ///
    /// It is lost only if the server, or its machine, crashes within some 0.6 s of the commit, and then as a whole, with all that
    /// was committed so after it. A commit that waits for the disk makes all before it safe as well. Others see the work at once:
    /// what they make of it must be right without it
    /// (https://www.postgresql.org/docs/current/wal-async-commit.html).
    ///
    /// - Throws: ``PostgresError``.
    public func commitAsynchronously() async throws(PostgresError) {
        try await enqueue("SET LOCAL synchronous_commit TO off")
    }
}

/// The names of some channels.
final class ChannelSet: Sendable {
    private let state = Mutex<Set<String>>([])

    var names: Set<String> { state.withLock(\.self) }

    func insert(_ name: String) { state.withLock { _ = $0.insert(name) } }
}

/// Statements of a transaction that wait for the next to be sent.
final class PendingStatements: Sendable {
    private let state = Mutex<[PostgresQuery]>([])
    private let isLost = Atomic(false)

    /// Whether some went out with a statement that failed.
    var areLost: Bool { isLost.load(ordering: .relaxed) }

    func lose() { isLost.store(true, ordering: .relaxed) }

    func append(_ query: PostgresQuery) { state.withLock { $0.append(query) } }

    func takeAll() -> [PostgresQuery] {
        state.withLock { statements in
            defer { statements = [] }
            return statements
        }
    }
}

/// What a transaction sees of others that run at the same time.
public enum PostgresIsolation: Sendable {
    /// Each statement sees what was committed before it began.
    case readCommitted
    /// All statements see what was committed before the first began.
    case repeatableRead
    /// As if one transaction ran after the other; fails with 40001 where that is not possible.
    case serializable

    var begin: String {
        switch self {
        case .readCommitted: "BEGIN ISOLATION LEVEL READ COMMITTED"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
        }
    }
}
