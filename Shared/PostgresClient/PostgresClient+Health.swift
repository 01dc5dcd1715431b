internal import Synchronization

extension PostgresClient {
    /// Checks that the server answers and takes writes. Connections to a server that does not are replaced.
    ///
    /// - Throws: ``PostgresError``; SQLSTATE 25006 when the server is read-only.
    public func checkWritable() async throws(PostgresError) {
        let query = PostgresQuery("SELECT current_setting('transaction_read_only') = 'on'").readOnly()
        guard try await self.query(query).first?.decode(0, as: Bool.self) == true else { return }
        await core.pool.retireAll()
        throw PostgresError(code: .sqlState(PostgresError.readOnlyState), message: "the server takes no writes: it is a standby, or set so")
    }

    /// Checks that the pool is not stuck: that is, work has waited for longer than a limit while no statement was answered and no attempt
    /// to connect ended. An unreachable server is no such case, because attempts to connect to it end.
    ///
    /// - Throws: ``PostgresError`` with code `unavailable`.
    public func checkProgress(within limit: Duration) throws(PostgresError) {
        let start = core.pool.stalledSince.load(ordering: .relaxed)
        guard start != 0, LoopClock.now > start + limit.clampedNanoseconds else { return }
        throw PostgresError(code: .unavailable, message: "the pool has completed nothing for \(limit), although work waited")
    }

    /// Checks that each connection has a session of the server to itself, unless the configuration names a pooler and the server behind it.
    ///
    /// A transaction pooler shares a session between several connections: a statement that one connection has prepared is missing in the
    /// other's session, or already exists there.
    ///
    /// - Throws: ``PostgresError`` with code `configuration`.
    public func checkSessions() async throws {
        guard !core.configuration.isPooled, core.configuration.maxConnections > 1 else { return }
        let areShared: Bool
        do {
            areShared = try await withSession { first in
                try await withSession { second in
                    for _ in 0..<5 where try await Self.backend(of: first) == Self.backend(of: second) { return true }
                    return false
                }
            }
        } catch let error as PostgresError where error.sqlState == "42P05" || error.sqlState == "26000" {
            areShared = true
        }
        guard areShared else { return }
        throw PostgresError(code: .configuration, message: "a pooler gives one session of the server to several connections")
    }

    private static func backend(of session: PostgresSession) async throws -> Int? {
        try await session.query("SELECT pg_backend_pid()").first?.decode(0)
    }
}
