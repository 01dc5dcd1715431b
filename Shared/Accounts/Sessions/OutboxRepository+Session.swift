public import EventBus

extension OutboxRepository {
    /// Publishes the event that has a worker examine a session, under the request and the trace of its upload. Call in the transaction that
    /// inserts the session, or that ends its wait for a turn.
    public func request(_ session: Session) async throws {
        try await publish(session.request, requestID: session.requestID, traceparent: session.traceparent)
    }
}
