public import PostgresClient
public import WireFormat

/// Handles events in batches, each batch in one transaction; for work that is nothing but database statements.
///
/// A stream's batches are handled one after the other, in the order of the stream. When a batch fails, its events are
/// handled again one by one, each in a transaction of its own, so that one bad event does not hold up the others.
public protocol EventBatchHandler<Body>: Sendable {
    associatedtype Body: Event

    /// Takes the effect of the events, at most ``EventConsumerConfiguration/batchSize``, within the given transaction.
    ///
    /// None of them was handled before; they are already marked as handled in the same transaction. An error rolls it back.
    func handle(_ events: [Envelope<Body>], in transaction: PostgresTransaction) async throws
}
