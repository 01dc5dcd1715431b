/// A transaction in progress; it must not be used after the body of `withTransaction` returned.
public struct PostgresTransaction: PostgresQueryable {
    let core: ClientCore
    let lease: LeaseID

    /// Runs a query in the transaction, after those sent before it.
    ///
    /// - Throws: ``PostgresError``. After an SQLSTATE error only a rollback is left: let the error leave the body.
    public func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows {
        try await core.query(query, .leased(lease))
    }

    /// Runs a text that may hold several statements, without parameters.
    ///
    /// The text must not end the transaction.
    /// - Returns: the rows of the last statement.
    /// - Throws: ``PostgresError``.
    @discardableResult
    public func script(_ sql: String, timeout: Duration? = nil) async throws(PostgresError) -> PostgresRows {
        var query = PostgresQuery(unescaped: sql)
        query.timeout = timeout
        return try await core.query(query, .script(lease))
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
