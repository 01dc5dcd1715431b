public import EventBus

extension OutboxRepository {
    /// Publishes the event that has a worker make the picture of a job, under the request and the trace of its order, until the job's
    /// deadline. Call in the transaction that inserts the job, or that ends its wait for a turn.
    public func request(_ job: ImageJob) async throws {
        try await publish(job.request, requestID: job.requestID, traceparent: job.traceparent, expiresAt: job.deadlineAt)
    }
}
