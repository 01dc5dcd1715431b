public import Logging
public import PostgresClient
public import ServiceLifecycle

/// Publishes events about rows whose time has come.
///
/// Taking the rows and publishing their events are one transaction. So what waits survives this process, Redis carries it only when it is
/// due, and any number of instances may poll.
public protocol DueRowPublisher: Service {
    /// The name of the task in the log.
    static var name: String { get }
    /// The most rows of a transaction.
    static var batchSize: Int { get }

    /// The client of the transactions.
    var postgres: PostgresClient { get }
    /// The pause after which due rows are looked for again.
    var interval: Duration { get }
    /// The log of failures.
    var logger: Logger { get }

    /// Takes due rows, so that no other transaction takes them, and publishes their events.
    ///
    /// - Returns: The number of rows; `limit` if there may be more.
    func publishDue(limit: Int, in transaction: PostgresTransaction) async throws -> Int
}

extension DueRowPublisher {
    /// Publishes batches until no row is due, again and again until graceful shutdown; a failure is logged.
    public func run() async throws {
        await periodically(Self.name, every: interval, logger: logger) {
            while try await publishDue() == Self.batchSize {}
        }
    }

    /// Publishes one batch; returns the number of its rows.
    @discardableResult
    public func publishDue() async throws -> Int {
        try await postgres.withTransaction { try await publishDue(limit: Self.batchSize, in: $0) }
    }
}
