/// A connection that one caller keeps, for settings and locks of a session.
///
/// It is closed at the end, so that its state does not reach the next user.
struct PostgresSession: PostgresQueryable {
    let core: ClientCore
    let lease: LeaseID

    func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows {
        try await core.query(query, .leased(lease))
    }

    func hasListeners(on channel: String) -> Bool { core.pool.hasListeners(on: channel) }

    func wakeListeners(on channel: String) { core.pool.wakeListeners(on: [channel]) }

    /// Runs the body in a transaction on this connection.
    func withTransaction<Success>(_ body: (PostgresTransaction) async throws -> Success) async throws -> Success {
        try await execute(PostgresQuery(unescaped: PostgresTransaction.begin))
        return try await core.runTransaction(lease, body)
    }
}

extension PostgresClient {
    /// Runs the body with a session, whose connection is closed afterwards.
    func withSession<Success>(_ body: (PostgresSession) async throws -> Success) async throws -> Success {
        guard !core.configuration.isPooled else {
            throw PostgresError(code: .configuration, message: "a session is not possible behind a pooler: connect to the server itself")
        }
        let lease = try await core.acquire(begin: nil)
        defer { core.pool.release(lease, discard: true) }
        return try await body(PostgresSession(core: core, lease: lease))
    }
}
