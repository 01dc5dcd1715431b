extension PostgresQueryable {
    /// Returns an object that runs queries here, each with a time limit instead of ``PostgresConfiguration/queryTimeout`` unless it has one
    /// of its own.
    public func withTimeLimit(_ limit: Duration) -> some PostgresQueryable { TimeLimited(base: self, limit: limit) }
}

private struct TimeLimited<Base: PostgresQueryable>: PostgresQueryable {
    let base: Base
    let limit: Duration

    func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows { try await base.query(limited(query)) }

    func enqueue(_ query: PostgresQuery) async throws(PostgresError) { try await base.enqueue(limited(query)) }

    func hasListeners(on channel: String) -> Bool { base.hasListeners(on: channel) }

    func wakeListeners(on channel: String) { base.wakeListeners(on: channel) }

    private func limited(_ query: PostgresQuery) -> PostgresQuery { query.timeout == nil ? query.timeout(limit) : query }
}
