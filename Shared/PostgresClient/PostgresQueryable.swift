/// Something that runs queries: the client, where each is a transaction of its own, or a transaction.
public protocol PostgresQueryable: Sendable {
    /// Runs a query and returns its rows.
    ///
    /// - Throws: ``PostgresError``. A write whose error is `connectionLost` may have taken effect.
    func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows
}

extension PostgresQueryable {
    /// Runs a statement and returns how many rows it inserted, updated, deleted or returned.
    ///
    /// - Throws: ``PostgresError``. A write whose error is `connectionLost` may have taken effect.
    @discardableResult
    public func execute(_ query: PostgresQuery) async throws(PostgresError) -> Int {
        try await self.query(query).affectedRows
    }
}
