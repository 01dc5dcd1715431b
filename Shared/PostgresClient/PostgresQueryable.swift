/// Runs queries: a client, where each query is a transaction of its own, or a transaction.
public protocol PostgresQueryable: Sendable {
    /// Runs a query and returns its rows.
    ///
    /// - Throws: ``PostgresError``. A write whose error is `connectionLost` may have taken effect.
    func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows

    /// Runs a statement whose result is not needed. A client runs it at once; a transaction sends it with its next statement or its
    /// commit, without a round trip of its own.
    ///
    /// - Throws: ``PostgresError`` as ``query(_:)`` does. In a transaction only when the statement cannot be sent at all; an error of
    ///   the server is thrown by the next statement, or by the commit, whose deadline applies to both.
    func enqueue(_ query: PostgresQuery) async throws(PostgresError)

    /// Whether this client has listeners of a channel; ``wakeListeners(on:)`` reaches them without the server.
    func hasListeners(on channel: String) -> Bool

    /// Wakes the listeners of a channel in this client, as a NOTIFY without a payload would: a transaction when it has been
    /// committed, a client or session at once.
    ///
    /// The server commits transactions that have used NOTIFY one at a time, each only after the one before is on disk; this method
    /// does not involve the server.
    func wakeListeners(on channel: String)
}

extension PostgresQueryable {
    /// Runs the statement at once and drops its result, as a client does.
    public func enqueue(_ query: PostgresQuery) async throws(PostgresError) { _ = try await self.query(query) }

    /// Runs a statement and returns the number of rows that it inserted, updated, deleted or returned.
    ///
    /// - Throws: ``PostgresError``. A write whose error is `connectionLost` may have taken effect.
    @discardableResult
    public func execute(_ query: PostgresQuery) async throws(PostgresError) -> Int {
        try await self.query(query).affectedRows
    }
}
