public import PostgresClient
public import WireFormat

/// Handles events in batches, each batch in one transaction; for work that consists of database statements only.
///
/// A consumer handles the batches of a stream one after the other, in the order in which it is given the events. There is no order across
/// consumers, or between an event and a retried one: a handler that needs an order compares versions in the database. When a batch fails,
/// its events are handled again one by one, so that one bad event does not hold up the others.
public protocol EventBatchHandler<Body>: Sendable {
    associatedtype Body: Event

    /// Applies the events, at most ``EventConsumerConfiguration/batchSize``, within the given transaction.
    ///
    /// They were not handled before, and are already marked as handled in the same transaction. An error rolls it back.
    func handle(_ events: [Envelope<Body>], in transaction: PostgresTransaction) async throws
}
