internal import Synchronization

extension PostgresClient {
    /// Checks that the server answers and takes writes. Connections to one that does not are replaced.
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
}
