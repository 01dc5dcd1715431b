public import Logging
public import ServiceLifecycle

/// A pool of connections to a Postgres server.
///
/// The client connects on first use and replaces broken connections. One thread drives all of its connections. Tasks that run on
/// that thread (see ``executor``) query without a thread switch.
///
/// Each single query is a transaction of its own and has a connection to itself while it runs, unless it is marked
/// ``PostgresQuery/readOnly()``: then it shares connections and round trips with other reads.
public final class PostgresClient: Service, PostgresQueryable {
    let core: ClientCore

    /// Creates a client and its thread, without a connection.
    ///
    /// - Throws: ``PostgresError``: `configuration` when the connection string cannot be parsed or a limit is not positive,
    ///   `connectionLost` when the system refuses a thread or file descriptors.
    public init(configuration: PostgresConfiguration, logger: Logger) throws(PostgresError) {
        core = try ClientCore(configuration: configuration, logger: logger)
    }

    /// The event loop as an executor, for tasks that mostly query: `Task(executorPreference: client.executor)`.
    ///
    /// A task that computes for more than a fraction of a millisecond there delays every connection.
    public var executor: any TaskExecutor { core.loop }

    /// Runs a query as a transaction of its own.
    ///
    /// When the task is cancelled, or the deadline passes, a query that is not read-only is stopped at the server.
    /// - Throws: ``PostgresError``. A write whose error is `connectionLost`, `cancelled` or `timeout` may have taken effect.
    public func query(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows {
        try await core.query(query, query.isReadOnly ? .read : .exclusive)
    }

    /// Whether ``notifications(on:)`` of this client has a sequence for the channel.
    public func hasListeners(on channel: String) -> Bool { core.pool.hasListeners(on: channel) }

    /// Gives the channel's sequences of this client a notification without a payload, at once and without the server.
    public func wakeListeners(on channel: String) { core.pool.wakeListeners(on: [channel]) }

    /// Runs the body in a transaction on a leased connection.
    ///
    /// BEGIN is sent together with the first statement. When the body throws, or its task is cancelled, the transaction is rolled
    /// back, and the body's error is rethrown.
    /// - Throws: the error of the body, or ``PostgresError``. When COMMIT fails with `connectionLost`, the transaction may have been
    ///   committed.
    @discardableResult
    public func withTransaction<Result>(_ body: (PostgresTransaction) async throws -> Result) async throws -> Result {
        let lease = try await core.acquire(begin: PostgresTransaction.begin)
        defer { core.pool.release(lease) }
        return try await core.runTransaction(lease, body)
    }

    /// Listens to a channel until the sequence is dropped.
    ///
    /// The first element, of kind `listening`, marks the start of listening; it comes again after every reconnect, because
    /// notifications that were sent meanwhile are lost.
    public func notifications(on channel: String) -> PostgresNotifications {
        core.pool.subscribe(channel)
    }

    /// Waits for graceful shutdown, then drains and closes the connections; on cancellation closes them at once.
    public func run() async throws {
        do {
            try await gracefulShutdown()
            await shutdown()
        } catch {
            await core.shutdown(drainTimeout: .zero)
        }
    }

    /// Refuses new work, waits up to ``PostgresConfiguration/drainTimeout`` for the work under way, and closes the connections.
    public func shutdown() async {
        await core.shutdown(drainTimeout: core.configuration.drainTimeout)
    }
}
