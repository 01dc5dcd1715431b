internal import Synchronization

/// A transaction in progress; do not use it after the body of `withTransaction` has returned.
public struct PostgresTransaction: PostgresQueryable {
    /// Begins a transaction (READ COMMITTED): each statement sees the transactions that were committed before the statement began.
    static let begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

    let core: ClientCore
    let lease: LeaseID
    /// The channels whose listeners the commit wakes.
    let channels = ChannelSet()
    /// The statements that are sent with the next one, or with the commit.
    let pending = PendingStatements()

    /// Runs a query in the transaction, after those sent before it.
    ///
    /// - Throws: ``PostgresError``. After an SQLSTATE error the transaction can only be rolled back: let the body throw the error.
    public func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows {
        try core.validate(query)
        return try await send(query, after: pending.takeAll())
    }

    /// Runs a query after preceding statements. When it fails, it is unknown whether those were sent; so the transaction is then
    /// rolled back, even if the body continues.
    private func send(_ query: PostgresQuery, after preceding: [PostgresQuery]) async throws(PostgresError) -> PostgresRows {
        do throws(PostgresError) {
            return try await core.query(query, after: preceding, .leased(lease))
        } catch {
            if !preceding.isEmpty { pending.markLost() }
            throw error
        }
    }

    /// Keeps a statement until the next query or the commit, with which it is sent.
    ///
    /// - Throws: ``PostgresError`` only when the statement cannot be sent; the server's errors come with the next query or the commit.
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

    /// Whether the client of this transaction has listeners of the channel.
    public func hasListeners(on channel: String) -> Bool { core.pool.hasListeners(on: channel) }

    /// Notes a channel, whose listeners in this client are woken after the commit; a transaction that is rolled back wakes no listener.
    public func wakeListeners(on channel: String) { channels.insert(channel) }

    /// Lets the commit return before it is on disk: for work that is repeated if the commit is lost.
    ///
    /// The commit is lost only if the server, or its machine, crashes within some 0.6 s of it, and then as a whole, together with all
    /// later asynchronous commits. A commit that waits for the disk makes all earlier ones durable as well. Other transactions see the work
    /// at once: their own work must be correct even if this transaction is lost
    /// (https://www.postgresql.org/docs/current/wal-async-commit.html).
    ///
    /// - Throws: ``PostgresError``.
    public func commitAsynchronously() async throws(PostgresError) {
        try await enqueue("SET LOCAL synchronous_commit TO off")
    }
}

/// A thread-safe set of channel names.
final class ChannelSet: Sendable {
    private let state = Mutex<Set<String>>([])

    var names: Set<String> { state.withLock(\.self) }

    func insert(_ name: String) { state.withLock { _ = $0.insert(name) } }
}

/// Statements of a transaction that wait to be sent with the next one.
final class PendingStatements: Sendable {
    private let state = Mutex<[PostgresQuery]>([])
    private let isLost = Atomic(false)

    /// Whether some were taken for a statement that failed, so that their effect is unknown.
    var areLost: Bool { isLost.load(ordering: .relaxed) }

    func markLost() { isLost.store(true, ordering: .relaxed) }

    func append(_ query: PostgresQuery) { state.withLock { $0.append(query) } }

    func takeAll() -> [PostgresQuery] {
        state.withLock { statements in
            defer { statements = [] }
            return statements
        }
    }
}
