public import EventBus
public import Storage

extension OutboxRepository {
    /// Publishes the event that has a worker examine a session, under the request and the trace of its upload. Call in the transaction that
    /// inserts the session, or that ends its wait for a turn.
    public func request(_ session: Session) async throws {
        try await publish(session.request, requestID: session.requestID, traceparent: session.traceparent)
    }

    /// Publishes the event that has a worker make the picture of a job, under the request and the trace of its order, until the job's
    /// deadline. Call in the transaction that inserts the job, or that ends its wait for a turn.
    public func request(_ job: ImageJob) async throws {
        try await publish(job.request, requestID: job.requestID, traceparent: job.traceparent, expiresAt: job.deadlineAt)
    }
}
