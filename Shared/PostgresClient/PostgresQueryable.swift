/// Something that runs queries: the client, where each is a transaction of its own, or a transaction.
public protocol PostgresQueryable: Sendable {
    /// Runs a query and returns its rows.
    ///
    /// - Throws: ``PostgresError``. A write whose error is `connectionLost` may have taken effect.
    func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows

    /// Runs a statement whose result nobody waits for: at once by a client, and in a transaction together with its next
    /// statement or its commit, at no round trip of its own.
    ///
    /// - Throws: ``PostgresError`` as ``query(_:)`` does; in a transaction only when the statement cannot be sent as it is, and what
    ///   the server says against it is thrown by the next statement, or by the commit, whose deadline counts for both.
    func enqueue(_ query: PostgresQuery) async throws(PostgresError)

    /// Whether anybody listens to a channel with this client; ``wakeListeners(on:)`` reaches them without the server.
    func hasListeners(on channel: String) -> Bool

    /// Wakes those who listen to a channel with this client, as a NOTIFY without a payload would: a transaction does when it is
    /// committed, anything else at once.
    ///
    /// The server lets one transaction at a time commit that has used NOTIFY, and another only when the first is on the disk; this
    /// asks nothing of it.
    func wakeListeners(on channel: String)
}

extension PostgresQueryable {
    public func enqueue(_ query: PostgresQuery) async throws(PostgresError) { _ = try await self.query(query) }

    /// Runs a statement and returns how many rows it inserted, updated, deleted or returned.
    ///
    /// - Throws: ``PostgresError``. A write whose error is `connectionLost` may have taken effect.
    @discardableResult
    public func execute(_ query: PostgresQuery) async throws(PostgresError) -> Int {
        try await self.query(query).affectedRows
    }
}
