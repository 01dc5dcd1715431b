internal import Glibc
internal import Logging

/// The event loop and the pool that a client shares with its transactions and sessions; submits the work of tasks to them.
final class ClientCore: Sendable {
    let configuration: PostgresConfiguration
    let loop: EventLoop
    let pool: ConnectionPool

    init(configuration: PostgresConfiguration, logger: Logger) throws(PostgresError) {
        try configuration.validate()
        self.configuration = configuration
        loop = try EventLoop(name: "postgres")
        pool = ConnectionPool(configuration: configuration, logger: logger, loop: loop)
        loop.setHandler(pool)
    }

    func query(
        _ query: PostgresQuery, after preceding: [PostgresQuery] = [], _ kind: WorkUnit.Kind
    ) async throws(PostgresError) -> PostgresRows {
        try validate(query)
        switch try await perform(unit(query, after: preceding, kind)) {
        case .rows(let rows): return rows
        case .lease, .nothing: preconditionFailure("a query is answered with rows")
        }
    }

    /// Throws when the protocol cannot carry a query.
    func validate(_ query: PostgresQuery) throws(PostgresError) {
        guard query.arguments.count <= PostgresArguments.maxCount else {
            throw PostgresError(code: .invalidQuery, message: "\(query.arguments.count) parameters, but the limit is 65535")
        }
        var sql = query.sql
        // By memchr: Swift's `contains` took 22,000 instructions for the text of a claim.
        let hasNUL = sql.withUTF8 { text in text.baseAddress.map { memchr($0, 0, text.count) != nil } ?? false }
        if hasNUL { throw PostgresError(code: .invalidQuery, message: "the text contains a NUL") }
    }

    /// Waits for a connection and leases it.
    ///
    /// - Parameter begin: the statement that is sent together with the first one.
    func acquire(begin: String?) async throws(PostgresError) -> LeaseID {
        switch try await perform(unit(PostgresQuery(unescaped: begin ?? ""), .lease)) {
        case .lease(let lease): return lease
        case .rows, .nothing: preconditionFailure("a request for a lease is answered with one")
        }
    }

    private func unit(_ query: PostgresQuery, after preceding: [PostgresQuery] = [], _ kind: WorkUnit.Kind) -> WorkUnit {
        let timeout = query.timeout ?? configuration.queryTimeout
        return WorkUnit(query: query, after: preceding, kind: kind, deadline: LoopClock.now + timeout.clampedNanoseconds)
    }

    private func perform(_ unit: WorkUnit) async throws(PostgresError) -> WorkUnit.Outcome {
        if Task.isCancelled { throw .cancelled }
        return try await withTaskCancellationHandler {
            await performUncancelled(unit)
        } onCancel: {
            pool.cancel(unit)
        }.get()
    }

    private func performUncancelled(_ unit: WorkUnit) async -> Result<WorkUnit.Outcome, PostgresError> {
        await withCheckedContinuation { continuation in
            unit.continuation = continuation
            pool.accept(unit)
        }
    }

    /// Runs the body in the transaction of a lease, and then commits it or rolls it back.
    func runTransaction<Success>(
        _ lease: LeaseID, _ body: (PostgresTransaction) async throws -> Success
    ) async throws -> Success {
        let transaction = PostgresTransaction(core: self, lease: lease)
        let result: Success
        do {
            result = try await body(transaction)
            if Task.isCancelled { throw PostgresError.cancelled }
            if transaction.pending.areLost { throw PostgresError.earlierFailure }
        } catch {
            await end(lease, "ROLLBACK", timeout: .seconds(5)).ignore()
            throw error
        }
        let pending = transaction.pending.takeAll()
        switch await end(lease, "COMMIT", after: pending, timeout: configuration.queryTimeout) {
        case .success(.rows(let rows)):
            // The server answers the COMMIT of a failed transaction with the command tag ROLLBACK, and without an error.
            guard rows.result.commandTag == "COMMIT" else {
                throw PostgresError.earlierFailure
            }
        case .success:
            break
        case .failure(let error):
            // When a statement sent ahead of it failed, the server has skipped the COMMIT.
            if !pending.isEmpty { await end(lease, "ROLLBACK", timeout: .seconds(5)).ignore() }
            throw error
        }
        pool.wakeListeners(on: transaction.channels.names)
        return result
    }

    /// Ends a transaction, even when the task is cancelled: it would be left open otherwise.
    private func end(
        _ lease: LeaseID, _ command: String, after pending: [PostgresQuery] = [], timeout: Duration
    ) async -> Result<WorkUnit.Outcome, PostgresError> {
        await performUncancelled(unit(PostgresQuery(unescaped: command).timeout(timeout), after: pending, .end(lease)))
    }

    func shutdown(drainTimeout: Duration) async {
        await pool.shutdown(drainTimeout: drainTimeout)
    }
}

extension PostgresError {
    fileprivate static var earlierFailure: PostgresError {
        PostgresError(code: .sqlState("25P02"), message: "an earlier statement failed, so the transaction was rolled back")
    }
}

extension Result {
    /// Discards the result.
    fileprivate func ignore() {}
}
